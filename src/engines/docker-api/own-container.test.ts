import { describe, expect, it } from "vitest";
import { parseMountTable } from "../../base/mount-table.ts";
import { ownContainerId, pathOutside } from "./own-container.ts";

const id = "0f".repeat(32);
const tableWith = (root: string, mountPoint: string): ReturnType<typeof parseMountTable> =>
  parseMountTable(
    `21 20 0:5 / /proc rw - proc proc rw\n22 20 254:0 ${root} ${mountPoint} rw,relatime - ext4 /dev/vda rw\n`,
  );

describe("ownContainerId", () => {
  it.each([
    ["Docker", `/var/lib/docker/containers/${id}/hostname`, "/etc/hostname"],
    ["Podman", `/containers/storage/overlay-containers/${id}/userdata/resolv.conf`, "/etc/resolv.conf"],
  ])("tells a container of %s", (_, root, mountPoint) => {
    expect(ownContainerId(tableWith(root, mountPoint))).toBe(id);
  });

  it.each([
    ["a machine", "/", "/"],
    ["a machine whose engine has mounted something", `/containers/${id}/shm`, `/var/lib/docker/containers/${id}/shm`],
    ["a file of somebody else's", "/home/me/hosts", "/etc/hosts"],
  ])("takes %s for no container", (_, root, mountPoint) => {
    expect(ownContainerId(tableWith(root, mountPoint))).toBeNull();
  });
});

describe("pathOutside", () => {
  const mounts = [
    { Source: "/srv/projects", Destination: "/projects" },
    { Source: "/srv/other", Destination: "/projects/deep" },
    { Source: "", Destination: "/projects/scratch" },
    { Source: "/srv/gone", Destination: "/gone" },
    { Source: "/data/volume/_data", Destination: "/var/lib/glovebox" },
  ];
  // As the process sees it: a tmpfs that the engine does not tell of, and a mount that is no more.
  const mountPoints = [
    "/",
    "/proc",
    "/projects",
    "/projects/deep",
    "/projects/scratch",
    "/projects/own",
    "/var/lib/glovebox",
  ];
  it.each([
    ["/projects", "/srv/projects"],
    ["/projects/a/b", "/srv/projects/a/b"],
    ["/projects/..a", "/srv/projects/..a"],
    ["/projects/deep/a", "/srv/other/a"],
    ["/var/lib/glovebox/packages/x", "/data/volume/_data/packages/x"],
  ])("finds %s", (inside, outside) => {
    expect(pathOutside(inside, { mounts, mountPoints })).toEqual({ path: outside, writable: false });
  });

  it.each([
    "/",
    "/projects2",
    "/projects/scratch",
    "/projects/scratch/a",
    "/projects/own/a",
    "/gone/a",
    "/etc/passwd",
    "/proj",
  ])("does not find %s", (inside) => {
    expect(pathOutside(inside, { mounts, mountPoints })).toBeNull();
  });
});
