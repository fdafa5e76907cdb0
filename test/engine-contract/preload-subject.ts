import type { ArrangeProgram } from "../../src/engines/local/preload/host-program.ts";
import { preloadEngine } from "../helpers/preload-engine.ts";
import type { Subject } from "./subject.ts";

/**
 * The suite's programs are shell scripts, which level `preload` refuses, and name `/work`, `/tmp` and `/data`, which are folders of
 * the host there. So the suite starts them without guards, with the real folders in place of those names: what it tests
 * here is how containers and programs live and end. The guards have separate tests (test/security/preload.test.ts).
 */
const bare: ArrangeProgram = ({ command, environment, folderOf }) => {
  const [file = "", ...values] = command.map((word) =>
    word.replaceAll(/(?<![\w.}-])\/(work|tmp|data)(?![\w-])/g, (folder) => folderOf(folder)),
  );
  return { file, arguments: values, environment, boundsData: true };
};

const noOtherAdapter =
  "its containers exist only in the adapter that created them: no other adapter can see or remove them";
const hostFolders = "its folders are host folders with host paths, accessible to the programs' user only";
const noWall =
  "the kernel restricts nothing here; the program's guard does, which has its own tests (test/security/preload.test.ts) and which the suite's programs run without";
const oneUser = "programs run as the server's own user or, if that is root, as a user of their own";
const ownMemory = "a single allocation beyond twice the limit fails inside the program, before the watch sees it";
const noProcesses = "guarded programs start no processes; unguarded ones can leave one behind that only a removal ends";

const guard = {
  substitute: "interception inside the program's own interpreter (preload), which hostile code may get round",
};
const anyUser = "it depends on who runs it";
const leavesProcesses = "its leftovers would stay on the host";

const onHost = "without a guard it would affect the host";

/** The embedded engine at level `preload`. */
export const preloadSubject: Subject = {
  name: "preload",
  requirement: "local",
  make: async () => preloadEngine({ preload: { arrange: bare } }),
  images: { minimal: "host", python: "host" },
  environmentNames: ["PATH", "HOME", "TMPDIR"],
  mustDeclare: {
    isolation: "preload",
    images: false,
    hostPaths: false,
    programs: "interpretersOnly",
    seccomp: "no",
    noNewPrivileges: "yes",
    setuidRefusal: "no",
    readOnlyRoot: guard,
    noNetwork: guard,
    memoryLimit: { substitute: "a watch that ends the program when it uses more" },
    cpuLimit: "no",
    pidsLimit: {
      substitute:
        "interception inside the program's own interpreter: no other processes, and so many threads in Python",
    },
    scratch: "disk",
    diskLimit: "no",
    oomReporting: true,
    cpuReporting: false,
    execUser: false,
    execNetwork: "none",
  },
  exceptions: {
    "exec.working-directory": hostFolders,
    "exec.main-working-directory": hostFolders,
    "scratch.folders": hostFolders,
    "scratch.private": hostFolders,
    "scratch.limit":
      "folders are measured each second, and a program that fills them is killed; the disk is never full",
    "scratch.limits-apart": "all folders of a container are measured together",
    "scratch.inodes": "folders are measured by their bytes on disk, which empty files do not take",
    "scratch.shared-memory": "shared memory is the host's; guards refuse it",
    "scratch.shared-memory-default": "shared memory is the host's; guards refuse it",
    "privileges.user": oneUser,
    "privileges.main-user": oneUser,
    "privileges.capabilities": noWall,
    "privileges.devices": noWall,
    "privileges.first-process": noWall,
    "privileges.host-processes": noWall,
    "filesystem.read-only-root": noWall,
    "filesystem.writable-mounts": noWall,
    "filesystem.no-scratch": noWall,
    "network.interfaces": noWall,
    "network.unreachable": noWall,
    "limits.pids": noWall,
    "limits.sockets": noWall,
    "limits.netlink": noWall,
    "user-shares.limits": noWall,
    "user-shares.pressure": noWall,
    "limits.pids-recover": noWall,
    "memory.exec": ownMemory,
    "memory.child": ownMemory,
    "memory.main": ownMemory,
    "exact-kill.daemon": noProcesses,
    "exact-kill.no-environment": noProcesses,
    "exact-kill.closed-memory": noProcesses,
    "exact-kill.runs-away": noProcesses,
    "exact-kill.looks-ended": noProcesses,
    "exact-kill.threads-run-away": noProcesses,
    "exact-kill.left-behind": noProcesses,
    "process-tree.sigterm": noProcesses,
    "process-tree.left-behind": noProcesses,
    "exact-kill.sigterm": noProcesses,
    "listing.other-adapter": noOtherAdapter,
    "losses.exec-after-loss": noOtherAdapter,
    "losses.running-exec": noOtherAdapter,
    "losses.unwatched-exec": noOtherAdapter,
    "losses.remove": noOtherAdapter,
    "losses.wait": noOtherAdapter,
    "cohabitant.sigstop": noWall,
    "cohabitant.sigkill": noWall,
    "cohabitant.traces": noWall,
  },
  untried: {
    "scratch.private": onHost,
    "scratch.shared-memory": onHost,
    "scratch.shared-memory-default": onHost,
    "filesystem.read-only-root": onHost,
    "filesystem.writable-mounts": onHost,
    "filesystem.no-scratch": onHost,
    "limits.pids": onHost,
    "limits.pids-recover": onHost,
    "privileges.user": anyUser,
    "privileges.main-user": anyUser,
    "privileges.capabilities": anyUser,
    "privileges.first-process": anyUser,
    "exact-kill.daemon": leavesProcesses,
    "exact-kill.no-environment": leavesProcesses,
    "exact-kill.closed-memory": leavesProcesses,
    "exact-kill.runs-away": leavesProcesses,
    "exact-kill.looks-ended": leavesProcesses,
    "exact-kill.threads-run-away": leavesProcesses,
    "exact-kill.left-behind": leavesProcesses,
    "exact-kill.sigterm": leavesProcesses,
    "process-tree.sigterm": leavesProcesses,
    "process-tree.left-behind": leavesProcesses,
    "cohabitant.sigstop": onHost,
    "cohabitant.sigkill": onHost,
    "cohabitant.traces": onHost,
  },
};
