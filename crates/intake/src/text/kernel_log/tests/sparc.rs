//! Reports of sparc64.

use super::read;

#[test]
fn a_stall_has_the_thread_and_the_function_of_its_row() {
    let said = read(
        "[   72.2] rcu: INFO: rcu_sched self-detected stall on CPU\n\
         [   72.2] rcu:     8-....: (2599 ticks this GP) idle=0fe/1/0x4000000000000002 softirq=1/1 fqs=12\n\
         [   72.3]  (t=2600 jiffies g=3269 q=245)\n\
         [   72.3]   CPU[  5]: TSTATE[0000004480001606] TPC[00000000004d75a4] TNPC[00000000004d75a8] TASK[press:30]\n\
         [   72.3]              TPC[other+0xc4/0xe0] O7[old+0x6c/0xe0] I7[its+0x2c/0x40] RPC[far+0x80/0xc0]\n\
         [   72.3] * CPU[  8]: TSTATE[0000004480001606]\nTPC[00000000004d7524] TNPC[00000000004d7528] TASK[mill:39]\n\
         [   72.4]              TPC[spin_on+0xc4/0xe0]\nO7[old+0x6c/0xe0] I7[take+0x2c/0x40]\nRPC[far+0x80/0xc0]\n",
    )
    .to_string();
    assert!(said.ends_with("(RCU stall); mill (39) ran on CPU 8, in spin_on, called from take"), "{said}");
}

#[test]
fn a_cpu_that_did_not_answer_has_no_thread() {
    let said = read(
        "[  165.3] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\n\
         [  165.3] rcu:     23-...0: (1 GPs behind) idle=16a/1/0x4000000000000000 softirq=1/2 fqs=17\n\
         [  165.3]  (detected by 13, t=5252 jiffies, g=3149, q=182)\n\
         [  165.3]   CPU[ 23]: TSTATE[0000000000000000] TPC[0000000000000000] TNPC[0000000000000000] TASK[NULL:-1]\n\
         [  165.3]              TPC[0] O7[0] I7[0] RPC[0]\n",
    )
    .to_string();
    assert!(said.ends_with("; what ran on CPU 23 is not shown"), "{said}");
}

#[test]
fn the_registers_and_the_trace_below_them_are_one_stack() {
    let said = read(
        "[   96.3] watchdog: BUG: soft lockup - CPU#8 stuck for 22s! [mill:39]\n\
         [   96.3] CPU: 8 PID: 39 Comm: mill Not tainted 5.5.0 #2\n\
         [   96.3] TSTATE: 0000009980001604 TPC: 00000000004dae1c TNPC:\n00000000004dae20 Y: 00000000    Not tainted\n\
         [   96.3] TPC: <spin_on+0x1bc/0x1e0>\n[   96.3] o4: 480f667790deb947 sp:\nfff800249836b0d1 ret_pc: 00000000004dae0c\n\
         [   96.3] RPC: <old+0x1ac/0x1e0>\n[   96.3] I7: <take+0x84/0x320>\n[   96.3] Call Trace:\n\
         [   96.3]  [0000000000652ca4] take+0x84/0x320\n[   96.3] [<0000000000b6f2bc>] walk+0x43c/0x820\n\
         [   96.3]  [0000000000407754] open_it+0x10/0x20\n",
    )
    .to_string();
    assert!(
        said.ends_with("the stack of mill (39) on CPU 8 is spin_on, called from take, walk, open_it"),
        "{said}"
    );
}
