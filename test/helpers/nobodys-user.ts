/** Whether a number is that of a user whom nobody on the host is: the one that all share, or one of a container's own. */
export function isNobodysUser(uid: string): boolean {
  const number = Number(uid);
  return number === 65_527 || (number >= 60_706 && number <= 61_183);
}
