import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { labels } from "../../src/engines/labels.ts";
import { createId } from "../../src/base/id.ts";
import type { Engine, EngineProbe } from "../../src/engines/engine.ts";
import { rareTag } from "../lanes/lanes.ts";
import { isRequired, skipOrFail, type Requirement } from "../helpers/require.ts";
import { testRegistryAddress, testRegistryFault } from "../helpers/test-registry.ts";
import type { BehaviourNeeds, DefineBehaviour } from "./behaviour.ts";
import { Scene } from "./scene.ts";
import { SharedContainer } from "./shared-container.ts";
import type { Subject } from "./subject.ts";
import { runtimeIndependent } from "./runtime-independent.ts";
import { topics } from "./topics.ts";

/** Registers the whole behaviour suite for one engine. */
export function engineContract(subject: Subject): void {
  const owner = createId(`contract-${subject.name}`);
  const ids = new Set<string>();
  const shared = new SharedContainer();
  let engine: Engine;
  let probe: EngineProbe;

  const behaviour: DefineBehaviour = (id, title, test, needs = {}) => {
    if (ids.has(id)) throw new Error(`Two behaviours have the id ${id}.`);
    ids.add(id);
    const exception = subject.exceptions[id];
    const name = exception === undefined ? `${id}: ${title}` : `${id} is a declared exception: ${exception}`;
    it(name, timeLimitOf(needs, subject), async (context) => {
      const untried = subject.untried[id];
      context.skip(untried !== undefined, `not tried: ${untried}`);
      context.skip(needs.subject !== undefined && subject[needs.subject] === undefined, `it has no ${needs.subject}`);
      if (!probe.available) skipOrFail(context, subject.requirement, probe.reason);
      await skipWithout(needs, probe, context);
      const scene = new Scene({ engine, subject, capabilities: probe.capabilities, owner, shared });
      // Runs after a time-out too, when the test's own function may never return.
      context.onTestFinished(() => scene[Symbol.asyncDispose]());
      context.onTestFailed(() => shared.renew());
      if (exception === undefined) await test(scene);
      else await expectFailure(test(scene));
    });
  };

  describe(`engine contract: ${subject.name}`, () => {
    beforeAll(async () => {
      engine = await subject.make();
      probe = await probeWith(engine, subject.ociRuntime);
    });

    for (const [name, topic] of Object.entries(topics)) {
      // Topics that do not depend on the runtime are tested with it only by `npm run test:full`.
      const rare = subject.ociRuntime !== undefined && name in runtimeIndependent;
      describe(name, { tags: rare ? [rareTag] : [] }, () => {
        topic(behaviour);
      });
    }

    describe("the subject", () => {
      it("declares exceptions only for behaviours that exist", () => {
        expect(Object.keys(subject.exceptions).filter((id) => !ids.has(id))).toEqual([]);
        expect(Object.keys(subject.untried).filter((id) => subject.exceptions[id] === undefined)).toEqual([]);
      });

      it("declares the capabilities that it must have where it is required", (context) => {
        if (!isRequired(subject.requirement)) context.skip(`${subject.requirement} is not required here`);
        expect(probe).toMatchObject({ available: true, capabilities: subject.mustDeclare });
      });
    });

    afterAll(async () => {
      await shared[Symbol.asyncDispose]();
      if (probe.available) {
        const left = await engine.list({ [labels.owner]: owner });
        await Promise.all(left.map((summary) => summary.remove()));
        expect(left, "containers that the tests left behind").toEqual([]);
      }
      await engine.close();
    });
  });
}

/** The default of the test project. */
const usualTimeoutMs = 120_000;

function timeLimitOf({ timeoutMs }: BehaviourNeeds, { patience }: Subject): { readonly timeout?: number } {
  if (patience === undefined) return timeoutMs === undefined ? {} : { timeout: timeoutMs };
  return { timeout: patience * (timeoutMs ?? usualTimeoutMs) };
}

/** The engine's answer with the capabilities of the tested runtime; without that runtime the engine is useless here. */
async function probeWith(engine: Engine, ociRuntime: string | undefined): Promise<EngineProbe> {
  const probe = await engine.probe();
  if (!probe.available || ociRuntime === undefined) return probe;
  try {
    return { ...probe, capabilities: await engine.capabilities({ ociRuntime }) };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "UNSUPPORTED") throw error;
    return { available: false, reason: error.message, howToStart: error.suggestion };
  }
}

/** A declared exception is valid only as long as the behaviour really fails. */
async function expectFailure(trial: Promise<void>): Promise<void> {
  const holds = await trial.then(
    () => true,
    () => false,
  );
  expect(holds, "whether the behaviour holds, which makes its declared exception stale").toBe(false);
}

async function skipWithout(
  { capability, requirement }: BehaviourNeeds,
  probe: Extract<EngineProbe, { available: true }>,
  context: TestContext,
): Promise<void> {
  if (capability !== undefined) {
    const declared = probe.capabilities[capability];
    const lacks =
      declared === false || (typeof declared === "string" && ["no", "none", "interpretersOnly"].includes(declared));
    context.skip(lacks, `the engine declares ${capability}: ${JSON.stringify(declared)}`);
  }
  const fault = requirement === undefined ? null : await requirementFault(requirement);
  if (requirement !== undefined && fault !== null) skipOrFail(context, requirement, fault);
}

async function requirementFault(requirement: Requirement): Promise<string | null> {
  if (requirement === "registry") return testRegistryFault(testRegistryAddress());
  return `the contract suite does not know how to find ${requirement}`;
}
