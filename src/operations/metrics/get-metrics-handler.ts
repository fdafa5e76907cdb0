import { GloveboxError } from "../../errors/glovebox-error.ts";
import { handle } from "../handling/handler.ts";
import { meantSandbox } from "../sandboxes/meant-sandbox.ts";
import { getMetricsContract } from "./get-metrics-contract.ts";
import { sampledToWire, sampleToWire } from "./sample-to-wire.ts";

const defaultSamples = 60;

/** `get_metrics`: other principals' sandboxes are treated as if they did not exist. */
export const getMetricsHandler = handle(getMetricsContract, async (platform, request, call) => {
  const { sandbox_id: word, samples: count = defaultSamples, since } = request;
  const id = await meantSandbox(platform, word, { principal: call.principal });
  const found = platform.sampler.find(id);
  if (found === undefined || found.principal !== call.principal) throw notKnown(id);
  const sinceMs = since === undefined ? undefined : Date.parse(since);
  return {
    container_id: id,
    ...sampledToWire(found),
    running: platform.findLive(id) !== undefined,
    samples: found.ring.newest(count, sinceMs).map((sample) => ({ container_id: id, ...sampleToWire(sample) })),
  };
});

function notKnown(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `No metrics of a sandbox ${JSON.stringify(id)}.`, {
    suggestion: "Take the sandbox_id of a result; samples are kept while the sandbox lives and for a while afterwards.",
    context: { sandbox_id: id },
  });
}
