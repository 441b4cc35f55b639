SUMMARY = "Finds out why a real-time Linux task is late"
HOMEPAGE = "https://github.com/whylate/whylate"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = "file://usr/share/doc/whylate/copyright;sha256=@SHA256_copyright@"

# The static program of the release: it needs no Rust in the build, and no library on the target.
COMPATIBLE_HOST = "(x86_64|aarch64).*-linux.*"
SRC_URI = "https://github.com/whylate/whylate/releases/download/v${PV}/whylate-${PV}-${HOST_ARCH}-linux-musl.tar.gz;name=${HOST_ARCH}"
SRC_URI[x86_64.sha256sum] = "@SHA256_x86_64@"
SRC_URI[aarch64.sha256sum] = "@SHA256_aarch64@"
S = "${WORKDIR}/whylate-${PV}-${HOST_ARCH}-linux-musl"

inherit systemd

SYSTEMD_PACKAGES = "${PN}"
SYSTEMD_SERVICE:${PN} = "whylate-guard.service whylate-watch.service"
SYSTEMD_AUTO_ENABLE = "disable"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -D -m 0755 ${S}/usr/bin/whylate ${D}${bindir}/whylate
    install -d ${D}${systemd_system_unitdir} ${D}${mandir}/man1
    install -m 0644 ${S}/usr/lib/systemd/system/whylate-*.service ${D}${systemd_system_unitdir}
    install -m 0644 ${S}/usr/share/man/man1/*.gz ${D}${mandir}/man1
    install -D -m 0644 ${S}/usr/share/bash-completion/completions/whylate ${D}${datadir}/bash-completion/completions/whylate
}

PACKAGES =+ "${PN}-bash-completion"
FILES:${PN}-bash-completion = "${datadir}/bash-completion"
FILES:${PN} += "${systemd_system_unitdir}"
INSANE_SKIP:${PN} += "already-stripped"
