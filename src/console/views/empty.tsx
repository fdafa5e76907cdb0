import type { ComponentChildren, VNode } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** Shown where there is nothing. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
