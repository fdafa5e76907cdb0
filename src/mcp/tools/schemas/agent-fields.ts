/**
 * Fields of responses that agents are not shown: the verdict stands in `outcome`, the policy's name is for operators, and of
 * two ids of one sandbox one is enough.
 */
export function isForAgents(field: string, siblings: object): boolean {
  if (field === "timed_out" || field === "policy_digest") return false;
  if (!Object.hasOwn(siblings, "container_id") || !Object.hasOwn(siblings, "sandbox_id")) return true;
  if (field === "container_id") return !Object.hasOwn(siblings, "session_id");
  // A preview's two are the same, and its tools ask for the container's.
  return field !== "sandbox_id" || !Object.hasOwn(siblings, "url");
}
