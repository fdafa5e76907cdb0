import type { VNode } from "preact";
import type { ApiFailure } from "../../api/api-failure.ts";
import { Icon } from "../icon.tsx";

/** What the server refused or could not do, and what helps. */
export function Failure({ failure }: { readonly failure: ApiFailure | null }): VNode | null {
  if (failure === null) return null;
  return (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <div>
        <p>{failure.message}</p>
        {failure.suggestion !== "" && <p class="hint">{failure.suggestion}</p>}
      </div>
    </div>
  );
}
