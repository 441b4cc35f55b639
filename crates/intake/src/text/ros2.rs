//! Callbacks of ROS 2 in a trace of LTTng: the events of ros2_tracing's `tracetools`, and what their objects are called.
//!
//! `ros2:callback_start` has the address of a callback. Earlier events name it: the topic of the subscription or the period of
//! the timer that it was added to, or its symbol. The events and their fields are those of
//! `tracetools/include/tracetools/tp_call.h` in github.com/ros2/ros2_tracing.

use super::fields;
use std::collections::HashMap;
use whylate_base::Ns;
use whylate_events::{Fact, Symbol};

/// More objects than this are not remembered: a robot has some thousands.
const MOST: usize = 1 << 16;

/// An object, by its process and address.
type Object = (u32, u64);

/// The names of callbacks, as far as they were seen.
#[derive(Default)]
pub(super) struct RosCallbacks {
    /// The topics of subscription handles.
    topics: HashMap<Object, String>,
    /// The handles of subscriptions.
    handles: HashMap<Object, Object>,
    /// The periods of timers.
    periods: HashMap<Object, Ns>,
    names: HashMap<Object, String>,
}

impl RosCallbacks {
    /// Takes in an event `ros2:NAME` of a process, whose field of a name `get` has. Where a callback begins, that.
    pub(super) fn event<'a>(
        &mut self,
        name: &str,
        process: u32,
        get: impl Fn(&str) -> Option<&'a str>,
    ) -> Option<Fact> {
        let object = |key: &str| Some((process, fields::address(get(key)?)?));
        match name {
            "rcl_subscription_init" => {
                remember(&mut self.topics, object("subscription_handle")?, get("topic_name")?.to_owned());
            }
            "rclcpp_subscription_init" => {
                remember(&mut self.handles, object("subscription")?, object("subscription_handle")?);
            }
            "rclcpp_subscription_callback_added" => {
                let handle = self.handles.get(&object("subscription")?)?;
                let topic = self.topics.get(handle)?.clone();
                remember(&mut self.names, object("callback")?, topic);
            }
            "rcl_timer_init" => {
                let period = Ns(fields::number(get("period")?)?);
                remember(&mut self.periods, object("timer_handle")?, period);
            }
            "rclcpp_timer_callback_added" => {
                let period = self.periods.get(&object("timer_handle")?)?;
                remember(&mut self.names, object("callback")?, format!("timer {period}"));
            }
            "rclcpp_callback_register" => {
                // A topic or a period says more to its user.
                let (callback, symbol) = (object("callback")?, short(get("symbol")?));
                if !self.names.contains_key(&callback) {
                    remember(&mut self.names, callback, symbol);
                }
            }
            "callback_start" => {
                let callback = object("callback")?;
                let name = self.names.get(&callback).cloned();
                let name = name.unwrap_or_else(|| format!("{:#x}", callback.1));
                return Some(Fact::Callback { name: Symbol::from(name.as_str()) });
            }
            _ => {}
        }
        None
    }
}

fn remember<T>(objects: &mut HashMap<Object, T>, object: Object, what: T) {
    if objects.len() < MOST || objects.contains_key(&object) {
        objects.insert(object, what);
    }
}

/// The function of a symbol such as `void (Camera::?)(std::shared_ptr<Image>)` or `Camera::on_image(int)`, without what
/// templates are of.
fn short(symbol: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for letter in symbol.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    let function = match plain.split_once(" (") {
        Some((_, pointed)) if pointed.contains(")(") => pointed.split(")(").next().unwrap_or(pointed),
        _ => plain.split('(').next().unwrap_or(&plain).rsplit(' ').next().unwrap_or(&plain),
    };
    match function.trim() {
        "" => symbol.to_owned(),
        function => function.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_shortened_to_their_function() {
        for (symbol, function) in [
            ("void (Camera::?)(std::shared_ptr<sensor::Image const>)", "Camera::?"),
            ("Camera::on_image(std::shared_ptr<sensor::Image>)", "Camera::on_image"),
            ("void rclcpp::Timer<void (*)(int)>::fire(long)", "rclcpp::Timer::fire"),
            ("Node::Node(int)::{lambda(int)#1}", "Node::Node"),
            ("plain", "plain"),
            ("<>", "<>"),
        ] {
            assert_eq!(short(symbol), function, "{symbol}");
        }
    }
}
