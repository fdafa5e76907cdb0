import type { RefObject, VNode } from "preact";
import { shortcuts } from "../keyboard.ts";

/** Lists the keys. */
export function ShortcutsDialog({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }): VNode {
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Keyboard</h2>
      <dl class="shortcuts">
        {shortcuts.map(([keys, effect]) => (
          <div key={keys}>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="primary">
          Close
        </button>
      </form>
    </dialog>
  );
}
