################################################################################
#
# whylate
#
################################################################################

WHYLATE_VERSION = @VERSION@
WHYLATE_ARCH = $(if $(BR2_aarch64),aarch64,x86_64)
WHYLATE_SITE = https://github.com/whylate/whylate/releases/download/v$(WHYLATE_VERSION)
WHYLATE_SOURCE = whylate-$(WHYLATE_VERSION)-$(WHYLATE_ARCH)-linux-musl.tar.gz
WHYLATE_LICENSE = MIT or Apache-2.0
WHYLATE_LICENSE_FILES = usr/share/doc/whylate/copyright

define WHYLATE_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/usr/bin/whylate $(TARGET_DIR)/usr/bin/whylate
endef

define WHYLATE_INSTALL_INIT_SYSTEMD
	$(INSTALL) -D -m 0644 $(@D)/usr/lib/systemd/system/whylate-guard.service \
		$(TARGET_DIR)/usr/lib/systemd/system/whylate-guard.service
	$(INSTALL) -D -m 0644 $(@D)/usr/lib/systemd/system/whylate-watch.service \
		$(TARGET_DIR)/usr/lib/systemd/system/whylate-watch.service
endef

$(eval $(generic-package))
