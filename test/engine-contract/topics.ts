import { programArguments } from "./arguments.ts";
import { backPressure } from "./back-pressure.ts";
import type { Topic } from "./behaviour.ts";
import { cancellation } from "./cancellation.ts";
import { cohabitant } from "./cohabitant.ts";
import { connect } from "./connect.ts";
import { ending } from "./ending.ts";
import { execCancellation } from "./exec-cancellation.ts";
import { exactKill } from "./exact-kill.ts";
import { exactKillEdges } from "./exact-kill-edges.ts";
import { exec } from "./exec.ts";
import { fileTrees } from "./file-trees.ts";
import { fileAttacks } from "./file-attacks.ts";
import { fileRefusals } from "./file-refusals.ts";
import { files } from "./files.ts";
import { filesystem } from "./filesystem.ts";
import { hostileAnswers } from "./hostile-answers.ts";
import { images } from "./images.ts";
import { keptStreams } from "./kept-streams.ts";
import { liveCopies } from "./live-copy.ts";
import { lifecycle } from "./lifecycle.ts";
import { limits } from "./limits.ts";
import { listing } from "./listing.ts";
import { losses } from "./losses.ts";
import { memory } from "./memory.ts";
import { mounts } from "./mounts.ts";
import { multitudes } from "./multitude.ts";
import { network } from "./network.ts";
import { privileges } from "./privileges.ts";
import { processTree } from "./process-tree.ts";
import { scratchImage } from "./scratch-image.ts";
import { scratch } from "./scratch.ts";
import { stoppedHelpers } from "./stopped-helpers.ts";
import { streams } from "./streams.ts";
import { variables } from "./variables.ts";
import { writableRoot } from "./writable-root.ts";
import { treeUpdates } from "./tree-updates.ts";
import { usage } from "./usage.ts";
import { userShares } from "./user-shares.ts";
import { unavailable } from "./unavailable.ts";

/** Everything that an engine must do, in the order in which failures are best investigated. */
export const topics: Readonly<Record<string, Topic>> = {
  images,
  "images of nothing": scratchImage,
  lifecycle,
  ending,
  exec,
  arguments: programArguments,
  variables,
  streams,
  "kept streams": keptStreams,
  "back-pressure": backPressure,
  multitudes,
  privileges,
  filesystem,
  scratch,
  "writable root": writableRoot,
  mounts,
  files,
  "refusals of files": fileRefusals,
  "attacks on files": fileAttacks,
  "file trees": fileTrees,
  "updates of trees": treeUpdates,
  "live copies": liveCopies,
  "hostile answers": hostileAnswers,
  network,
  connect,
  memory,
  limits,
  "shares of users": userShares,
  usage,
  listing,
  losses,
  cancellation,
  "cancellation of programs": execCancellation,
  "exact kill": exactKill,
  "edges of the exact kill": exactKillEdges,
  "stopped helpers": stoppedHelpers,
  "process tree": processTree,
  cohabitant,
  unavailable,
};
