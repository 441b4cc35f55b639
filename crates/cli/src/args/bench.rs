//! The command line of `whylate bench`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::{positive_duration, some_cpus};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use whylate_base::{CpuSet, Ns};
use whylate_probes::bench::{BenchKind, BenchReport};

/// The port of a bench's server.
const PORT: u16 = 9177;

/// `whylate bench`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<BenchReport>), mut_arg("output", file_of::<BenchReport>))]
pub(crate) struct BenchArgs {
    /// What to measure
    #[arg(value_name = "KIND", value_parser = kinds())]
    pub(crate) kind: BenchKind,
    /// Measure for about this time, up to 60s
    #[arg(short, long, value_name = "DURATION", default_value = "20s", value_parser = duration)]
    pub(crate) duration: Ns,
    /// The CPUs to measure on, such as 2-3; default: all that this process may use. The last one measures
    #[arg(short, long, value_name = "LIST", value_parser = some_cpus)]
    pub(crate) cpus: Option<CpuSet>,
    /// socket: measure with a server on another machine, port 9177 by default
    #[arg(long, value_name = "HOST[:PORT]", value_parser = peer)]
    pub(crate) connect: Option<SocketAddr>,
    /// socket: be that server until Ctrl-C; on all addresses, port 9177 by default. It answers every client: use it in a
    /// trusted network
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, default_missing_value = "9177",
        value_parser = own_address, conflicts_with_all = ["connect", "duration", "cpus", "format", "json", "output"])]
    pub(crate) server: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl BenchArgs {
    /// An option that this kind does not have.
    pub(crate) fn misplaced(&self) -> Option<&'static str> {
        let is_socket = self.kind == BenchKind::Socket;
        let peer = self.connect.map(|_| "--connect").or(self.server.map(|_| "--server"));
        peer.filter(|_| !is_socket)
    }
}

fn kinds() -> impl TypedValueParser<Value = BenchKind> {
    PossibleValuesParser::new(BenchKind::ALL.map(BenchKind::name)).try_map(|name| name.parse::<BenchKind>())
}

/// A bench changes no more after a minute, and holds the machine up.
fn duration(text: &str) -> Result<Ns, String> {
    const LEAST: Ns = Ns::from_ms(100);
    const MOST: Ns = Ns::from_secs(60);
    match positive_duration(text)? {
        duration if duration < LEAST => Err(format!("must be {LEAST} or more")),
        duration if duration > MOST => Err(format!("must be {MOST} or less")),
        duration => Ok(duration),
    }
}

/// `host`, `host:9177`, `192.0.2.1`, `[2001:db8::1]:9177`.
fn peer(text: &str) -> Result<SocketAddr, String> {
    let found = match text.parse::<IpAddr>() {
        Ok(address) => return Ok(SocketAddr::new(address, PORT)),
        Err(_) if text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) => {
            text.to_socket_addrs()
        }
        Err(_) => (text, PORT).to_socket_addrs(),
    };
    let none = || "the name has no address".to_owned();
    found.map_err(|error| error.to_string())?.next().ok_or_else(none)
}

/// `9177`, `192.0.2.1:9177`, `[::1]:9177`.
fn own_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port));
    }
    text.parse()
        .map_err(|_| "give a port, or an address and a port: 9177, 192.0.2.1:9177, [::1]:9177".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_may_be_left_out() {
        let peer = |text| peer(text).map(|address| address.to_string()).ok();
        assert_eq!(peer("192.0.2.1").as_deref(), Some("192.0.2.1:9177"));
        assert_eq!(peer("192.0.2.1:80").as_deref(), Some("192.0.2.1:80"));
        assert_eq!(peer("2001:db8::1").as_deref(), Some("[2001:db8::1]:9177"));
        assert_eq!(peer("[2001:db8::1]:80").as_deref(), Some("[2001:db8::1]:80"));
        assert_eq!(peer(""), None);
        let own = |text| own_address(text).map(|address| address.to_string()).ok();
        assert_eq!(own("9177").as_deref(), Some("[::]:9177"));
        assert_eq!(own("127.0.0.1:0").as_deref(), Some("127.0.0.1:0"));
        for wrong in ["", "70000", "host:80", "127.0.0.1"] {
            assert_eq!(own(wrong), None, "{wrong}");
        }
    }
}
