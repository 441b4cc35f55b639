//! Whether a stack is of storage: only such a thread can hang because storage did not answer. A device of another kind (USB, graphics,
//! network) does not wait for a disk.

/// Functions of block devices, their drivers, file systems and pages, by how their names begin.
const FUNCTIONS: [&str; 78] = [
    // block, drivers/md
    "blk_",
    "blkdev_",
    "__blkdev_",
    "blkg_",
    "bdev_",
    "bio_",
    "submit_bio",
    "__submit_bio",
    "del_gendisk",
    "device_add_disk",
    "elevator_",
    "rq_qos_",
    "wbt_",
    "md_",
    "raid",
    "dm_",
    "bch_",
    "bcache_",
    "nbd_",
    "drbd_",
    "rbd_",
    "zram_",
    // drivers/scsi, drivers/ata, drivers/nvme, drivers/mmc, drivers/usb/storage
    "scsi_",
    "__scsi_",
    "sd_",
    "sr_",
    "ata_",
    "ahci_",
    "sas_",
    "nvme_",
    "nvmf_",
    "virtblk_",
    "mmc_",
    "__mmc_",
    "sdhci_",
    "cqhci_",
    "ufshcd_",
    "usb_stor_",
    "uas_",
    "ubi_",
    "mtd_",
    // fs
    "ext2_",
    "ext3_",
    "ext4_",
    "jbd2_",
    "journal_",
    "xfs_",
    "xlog_",
    "btrfs_",
    "f2fs_",
    "ocfs2_",
    "gfs2_",
    "fat_",
    "ubifs_",
    "nfs",
    "rpc_",
    "__rpc_",
    "ceph_",
    "cifs_",
    "smb2_",
    "fuse_",
    "ovl_",
    "iterate_supers",
    "sync_inodes",
    "sync_filesystem",
    "sync_blockdev",
    "sync_buffer",
    "swap_readpage",
    "swap_read_folio",
    // pages and buffers
    "filemap_",
    "__filemap_",
    "generic_file_",
    "writeback_",
    "__writeback_",
    "wb_",
    "balance_dirty_pages",
    "shrink_",
    "__bread",
];
/// Parts of the names of others.
const PARTS: [&str; 9] = [
    "wait_on_page",
    "lock_page",
    "folio_lock",
    "folio_wait",
    "wait_on_buffer",
    "lock_buffer",
    "iomap_",
    "direct_IO",
    "_writepages",
];

/// True of functions among which one is of storage, a file system or pages.
pub(super) fn are_of_storage<'a>(mut functions: impl Iterator<Item = &'a str>) -> bool {
    let begins = |name: &str| FUNCTIONS.iter().any(|begin| name.starts_with(begin));
    functions.any(|name| begins(name) || PARTS.iter().any(|part| name.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::are_of_storage;

    #[test]
    fn only_stacks_of_storage_wait_for_it() {
        for functions in [
            &["wait_for_completion", "blk_execute_rq", "scsi_execute"][..],
            &["bit_wait_io", "__wait_on_buffer", "jbd2_journal_commit_transaction"],
            &["__folio_lock", "truncate_inode_pages_range"],
            &["rpc_wait_bit_killable", "__rpc_execute", "nfs_file_fsync"],
        ] {
            assert!(are_of_storage(functions.iter().copied()), "{functions:?}");
        }
        for functions in [
            &["wait_for_completion", "usb_start_wait_urb", "usb_control_msg", "hub_event"][..],
            &["dma_fence_default_wait", "drm_atomic_helper_wait_for_fences"],
            &["__mutex_lock", "rtnl_lock", "vfs_write", "ksys_write"],
            &["napi_disable", "dev_close_many"],
            &[],
        ] {
            assert!(!are_of_storage(functions.iter().copied()), "{functions:?}");
        }
    }
}
