import { appleSubject } from "../../test/engine-contract/apple-subject.ts";
import { collectBehaviours } from "../../test/engine-contract/collect-behaviours.ts";
import { guaranteeGroups } from "../../test/engine-contract/guarantees.ts";
import { preloadSubject } from "../../test/engine-contract/preload-subject.ts";
import { subjects } from "../../test/engine-contract/subjects.ts";
import { kubernetesSubject } from "../../test/kubernetes/subject.ts";
import { replaceMarked } from "../marked-section.ts";
import { renderEngineTable } from "./render.ts";

/** The text of docs/engines.md with the tables that follow from the contract suite. */
export function withEngineTable(text: string): string {
  const { docker, podman, runsc, local } = subjects;
  const body = renderEngineTable({
    groups: guaranteeGroups,
    subjects: [docker, podman, runsc, appleSubject, kubernetesSubject, local, preloadSubject],
    behaviours: collectBehaviours(),
  });
  return replaceMarked(text, "engine-table", body);
}
