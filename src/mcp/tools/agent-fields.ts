/**
 * Response fields that are hidden from agents: the verdict is in `outcome`, the policy's name is for operators, what an
 * environment was asked for is known, and one of a sandbox's two ids is enough.
 */
export function isForAgents(field: string, siblings: object): boolean {
  if (field === "timed_out" || field === "policy_digest") return false;
  if ((field === "limits" || field === "network") && Object.hasOwn(siblings, "mount_path")) return false;
  if (!Object.hasOwn(siblings, "container_id") || !Object.hasOwn(siblings, "sandbox_id")) return true;
  if (field === "container_id") return !Object.hasOwn(siblings, "session_id");
  // A preview's two ids are the same, and its tools take the container's.
  return field !== "sandbox_id" || !Object.hasOwn(siblings, "url");
}
