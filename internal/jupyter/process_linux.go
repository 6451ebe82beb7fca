package jupyter

import "syscall"

// endWithParent: GoNB and Jupyter take SIGTERM as the order to clean up and end.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
