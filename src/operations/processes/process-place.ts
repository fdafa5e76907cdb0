import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import { gapSentences } from "../../policy/tooling/tooling-gaps.ts";
import type { Environment } from "../../workloads/environment/environment.ts";
import type { Session } from "../../workloads/session/session.ts";
import type { BackgroundProcess } from "../../workloads/place/background/background-process.ts";
import { maxToolingFiles } from "../environments/tooling-schema.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { assertOnePlace, type AboutPlace, type PlaceFields } from "../handling/one-place.ts";
import { processRow } from "./process-row.ts";
import type { ProcessRow } from "./process-schema.ts";

/** What background processes run in. */
export interface ProcessPlace extends Pick<Environment | Session, "processes" | "stopProcess"> {
  /** Its row, with the tooling files of the project that it has changed. */
  readonly rowOf: (process: BackgroundProcess) => Promise<ProcessRow>;
  readonly about: AboutPlace;
}

/** The place that a request means; it must already exist. @throws INVALID_REQUEST, NOT_FOUND */
export async function placeOf(
  platform: PlatformParts,
  fields: PlaceFields,
  call: OperationCall,
): Promise<ProcessPlace> {
  assertOnePlace(fields);
  const { env_id: id } = fields;
  if (id !== undefined) return inEnvironment(id, await platform.environments.find(id, call.principal));
  const session = platform.sessions.find(fields.session_id, call);
  if (session !== null) return inSession(session);
  throw new GloveboxError("NOT_FOUND", "There is no session yet, so it has no processes.", {
    suggestion: "Start one with start_process, or give the env_id of an environment.",
  });
}

function inEnvironment(id: string, environment: Environment): ProcessPlace {
  return {
    about: { env_id: id },
    processes: environment.processes,
    rowOf: async (process) => {
      const report = await environment.tooling.reportOf(process);
      if (report === null) return processRow(process);
      const unseen = gapSentences(report.gaps);
      return {
        ...processRow(process),
        tooling_files: [...shortenTooling(report.changed, maxToolingFiles)],
        ...(unseen.length === 0 ? {} : { tooling_unseen: [...unseen] }),
      };
    },
    stopProcess: (...stop) => environment.stopProcess(...stop),
  };
}

function inSession(session: Session): ProcessPlace {
  return {
    about: { session_id: session.id },
    processes: session.processes,
    rowOf: (process) => Promise.resolve(processRow(process)),
    stopProcess: (...stop) => session.stopProcess(...stop),
  };
}
