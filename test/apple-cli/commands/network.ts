import { readLabels } from "../container/labels.ts";
import type { Context, Work } from "../context.ts";
import { DockerError } from "../docker/docker-api.ts";
import { Networks, type NetworkFacts } from "../docker/networks.ts";
import { CommandError } from "../output/command-error.ts";
import { dateOf, type JsonObject } from "../output/swift-json.ts";
import { isAtLeast } from "../parser/version.ts";
import { deleteNamed } from "./delete-named.ts";
import { printInspection, printList } from "./print-list.ts";

const networksOf = ({ api, settings }: Context): Networks => new Networks(api, settings.scope);

const namePattern = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;
const labelPattern = /^[a-z0-9](?:[a-z0-9./-]*[a-z0-9])?$/;
const maxLabelLength = 128;

function networkJson({ settings }: Context, facts: NetworkFacts): JsonObject {
  const { name, createdMs, labels, options, mode, plugin, subnet, gateway } = facts;
  const status = { ipv4Gateway: gateway, ipv4Subnet: subnet };
  if (!isAtLeast(settings.version, "1.0.0")) {
    return { id: name, state: "running", config: { id: name, mode, labels }, status };
  }
  const creationDate = dateOf(settings.version, createdMs);
  return { configuration: { creationDate, labels, mode, name, options, plugin }, id: name, status };
}

export const createNetwork: Work = async (context) => {
  const { options, say } = context;
  const name = options.argument(0);
  if (!namePattern.test(name)) throw new CommandError("invalidArgument", `invalid network ID: ${name}`);
  const labels = readLabels(options.all("label"));
  const bad = Object.keys(labels).find((key) => !labelPattern.test(key) || key.length > maxLabelLength);
  if (bad !== undefined) throw new CommandError("invalidArgument", `invalid label key: ${bad}`);
  const networks = networksOf(context);
  if (await networks.exists(name)) throw new CommandError("exists", `network ${name} already exists`);
  const subnet = options.one("subnet") ?? "";
  try {
    await networks.create({
      name,
      createdMs: Date.now(),
      labels,
      options: readLabels(options.all("option")),
      mode: options.has("internal") ? "hostOnly" : "nat",
      plugin: options.one("plugin") ?? "container-network-vmnet",
      subnet,
    });
  } catch (error) {
    if (!(error instanceof DockerError) || subnet === "") throw error;
    throw new CommandError("exists", `IPv4 subnet ${subnet} overlaps an existing network`);
  }
  say.out(name);
};

export const listNetworks: Work = async (context) => {
  const found = await networksOf(context).list();
  printList(context, {
    json: found.map((facts) => networkJson(context, facts)),
    names: found.map(({ name }) => name),
    header: ["NETWORK", "SUBNET"],
    rows: found.map(({ name, subnet }) => [name, subnet]),
  });
};

export const inspectNetworks: Work = async (context) => {
  const names = context.options.arguments;
  const found = await Promise.all(names.map((name) => networksOf(context).find(name)));
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) throw new CommandError("notFound", `network not found: ${missing.join(", ")}`);
  printInspection(
    context,
    found.filter((each) => each !== undefined).map((facts) => networkJson(context, facts)),
  );
};

async function usersOf({ containers }: Context, name: string): Promise<readonly string[]> {
  const all = await containers.list();
  const users = all.filter(({ configuration }) => configuration.networks.some(({ network }) => network === name));
  return users.map(({ configuration }) => configuration.id);
}

export const deleteNetworks: Work = async (context) => {
  const networks = networksOf(context);
  if (context.options.arguments.includes("default")) {
    throw new CommandError("invalidArgument", "cannot delete a builtin network: default");
  }
  await deleteNamed(context, { many: "networks", failed: "delete failed for one or more networks" }, async (name) => {
    const users = await usersOf(context, name);
    if (users.length > 0) {
      context.say.err(`cannot delete subnet ${name} with referring containers: ${users.join(", ")}`);
      return false;
    }
    if (!(await networks.exists(name))) return false;
    await networks.remove(name);
    return true;
  });
};
