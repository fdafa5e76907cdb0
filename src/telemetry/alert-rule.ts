/** When an alert starts and when it ends, by how long a value has been above its threshold, or not. */
export interface AlertRule {
  readonly startAfterMs: number;
  readonly endAfterMs: number;
}

/** Where a rule stands; `initialRuleState` at first. */
export interface RuleState {
  readonly isOn: boolean;
  /** Since when the value has been where it would change that; null: it is not there. */
  readonly sinceMs: number | null;
}

/** One value, and when it was taken, in milliseconds of one clock. */
export interface RuleInput {
  readonly isOver: boolean;
  readonly atMs: number;
}

export const initialRuleState: RuleState = { isOn: false, sinceMs: null };

/** The state after one more value, and what changed with it. */
export function stepRule(
  rule: AlertRule,
  state: RuleState,
  { isOver, atMs }: RuleInput,
): { readonly state: RuleState; readonly change: "start" | "end" | null } {
  if (isOver === state.isOn) return { state: { ...state, sinceMs: null }, change: null };
  const sinceMs = state.sinceMs ?? atMs;
  if (atMs - sinceMs < (isOver ? rule.startAfterMs : rule.endAfterMs))
    return { state: { ...state, sinceMs }, change: null };
  return { state: { isOn: isOver, sinceMs: null }, change: isOver ? "start" : "end" };
}
