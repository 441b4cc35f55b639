# Run in the root of a new image, natively: what takes minutes in emulation takes seconds here.
# $1: the root. $2: parameters for each boot.
set -e
root="$1"
put() { cat > "$root$1"; }

# A first root of only what finds the disk: loading it through the firmware is slow in emulation.
put /etc/initramfs-tools/conf.d/whylate-lab <<END
MODULES=list
COMPRESS=zstd
END
put /etc/initramfs-tools/modules <<END
virtio_pci
virtio_blk
ext4
END
chroot "$root" update-initramfs -u

# What grub-install does, but for the boot sector, which is written once there is a disk.
modules="$root/usr/lib/grub/i386-pc"
mkdir -p "$root/boot/grub/i386-pc"
cp "$modules"/*.mod "$modules"/*.lst "$modules"/boot.img "$root/boot/grub/i386-pc/"
chroot "$root" grub-mkimage -O i386-pc -p '(hd0,msdos1)/boot/grub' \
    -o /boot/grub/i386-pc/core.img biosdisk part_msdos ext2
put /etc/default/grub <<END
GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=Debian
GRUB_CMDLINE_LINUX_DEFAULT="quiet"
GRUB_CMDLINE_LINUX="$2"
GRUB_TERMINAL=console
END
# For the first boot only, which has update-grub write a better one.
release=$(basename "$root"/boot/vmlinuz-*)
release=${release#vmlinuz-}
put /boot/grub/grub.cfg <<END
linux /boot/vmlinuz-$release root=/dev/vda1 ro $2
initrd /boot/initrd.img-$release
boot
END

# Never checked at boot: the journal is replayed when it is mounted.
echo '/dev/vda1 / ext4 errors=remount-ro 0 0' > "$root/etc/fstab"
echo guest > "$root/etc/hostname"
put /etc/systemd/system/whylate-lab.service <<END
[Unit]
Description=The job of the lab
After=multi-user.target
ConditionPathExists=/dev/disk/by-id/virtio-job
[Service]
Type=simple
ExecStart=/bin/sh /etc/whylate-lab.sh
END
# /run itself does not let programs be run. Without its job the machine is of no use.
put /etc/whylate-lab.sh <<'END'
exec >/dev/console 2>&1
work=/run/whylate-lab
mkdir -p /out $work && mount -t tmpfs tmpfs $work && cd $work &&
    cpio -idmu --quiet </dev/disk/by-id/virtio-job && ./whylate-lab guest ||
    systemctl poweroff
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../whylate-lab.service "$root/etc/systemd/system/multi-user.target.wants/"
# What would change files between two boots, write to the console, or only takes time.
for unit in serial-getty@ttyS0.service getty@tty1.service systemd-logind.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-tmpfiles-clean.timer systemd-journal-flush.service systemd-update-utmp.service \
    systemd-update-utmp-runlevel.service modprobe@.service dev-hugepages.mount dev-mqueue.mount; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
# A profile is asked for by the job, and not before.
for unit in tuned.service; do
    rm -f "$root/etc/systemd/system/multi-user.target.wants/$unit"
done
