import type { VNode } from "preact";
import type { ApiFailure } from "../ask.ts";
import { Untrusted } from "../untrusted.tsx";
import { Icon } from "./icon.tsx";

/** What the server refused or could not do, and what helps. */
export function Failure({ failure }: { readonly failure: ApiFailure | null }): VNode | null {
  if (failure === null) return null;
  return (
    <div class="failure" role="alert">
      <Icon name="warning" />
      <div>
        <p>
          <Untrusted text={failure.message} />
        </p>
        {failure.suggestion !== "" && (
          <p class="hint">
            <Untrusted text={failure.suggestion} />
          </p>
        )}
      </div>
    </div>
  );
}
