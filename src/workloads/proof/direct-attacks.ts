import { attacksOf, open, type Attack } from "./attack.ts";

/** Attacks on the network that bypass its proxy. */
export const directAttacks: readonly Attack[] = attacksOf({
  group: "Past the network's proxy",
  deniedBy: "noNetwork",
  control: "unsealed",
  attacks: {
    "connects-to-host": "connect to what the host serves: Glovebox's API, an engine, a database",
    "connects-to-host-by-ipv6": "connect to it by IPv6",
    "sends-datagrams-to-host": "exchange datagrams with the host",
    "asks-name-server-of-host": "ask a name server, with data in the question",
    "sends-to-everybody": "send to the whole network (broadcast, multicast)",
    "pings-host": "ping the host",
    "finds-way-out": "find a network device besides loopback",
    "changes-network": "add a network device",
  },
  exceptions: {
    "sends-to-everybody": {
      kubernetes: open("the pod's device takes such packets, and what enforces the policy drops them or not"),
    },
    "finds-way-out": { kubernetes: open("each pod has a device; the policy denies what it would reach") },
  },
});
