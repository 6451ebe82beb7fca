package jupyter

import "syscall"

// endWithParent has the process end if this one is killed before it can clean
// up. GoNB takes SIGTERM as the order to stop its cell and remove its files.
func endWithParent(attr *syscall.SysProcAttr) {
	attr.Pdeathsig = syscall.SIGTERM
}
