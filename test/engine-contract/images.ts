import { expect } from "vitest";
import { createId } from "../../src/base/id.ts";
import type { PullProgress } from "../../src/engines/engine.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { testRegistryAddress } from "../helpers/test-registry.ts";
import { tarOf } from "../../src/base/tar.ts";
import { labels } from "../../src/engines/labels.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

const absent = "glovebox-test/no-such-image:1";

async function withoutImage({ subject }: Scene, reference: string): Promise<void> {
  if (subject.removeImage === undefined) throw new Error("The subject has no removeImage and declares no exception.");
  await subject.removeImage(reference);
}

/** Images are found, fetched or reported missing. */
export const images: Topic = (behaviour) => {
  behaviour(
    "images.has",
    "an existing image is distinguished from a missing one",
    async ({ engine, subject }) => {
      expect(await engine.images.has(subject.images.minimal)).toBe(true);
      expect(await engine.images.has(absent)).toBe(false);
    },
    { capability: "images" },
  );

  behaviour(
    "images.has-other-tag",
    "a missing tag is missing, whatever other tags exist",
    async ({ engine, subject }) => {
      expect(await engine.images.has(subject.images.minimal.replace(/:[^:]*$/, ":no-such-tag"))).toBe(false);
    },
    { capability: "images" },
  );

  behaviour(
    "images.create-missing",
    "a container with a missing image is refused, naming the image",
    async (scene) => {
      const error = await failureOf(scene.create({ image: absent }), "IMAGE_UNAVAILABLE");
      expect(error.message).toContain(absent);
      expect(await scene.containers()).toEqual([]);
    },
    { capability: "images" },
  );

  behaviour(
    "images.pull",
    "a pull fetches the image, with progress, and it runs",
    async (scene) => {
      const reference = `${testRegistryAddress()}/glovebox-test/minimal:1`;
      await withoutImage(scene, reference);
      expect(await scene.engine.images.has(reference)).toBe(false);
      const steps: PullProgress[] = [];
      await scene.engine.images.pull(reference, { useCredentials: true, onProgress: (step) => steps.push(step) });
      expect(await scene.engine.images.has(reference)).toBe(true);
      expect(steps.length).toBeGreaterThan(0);
      expect(steps.every((step) => step.status !== "")).toBe(true);
      const container = await scene.idle({ image: reference });
      expect(await scene.run(container, ["true"])).toMatchObject({ exitCode: 0 });
      await container.remove();
      await withoutImage(scene, reference);
    },
    { capability: "images", requirement: "registry" },
  );

  behaviour(
    "images.pull-unknown",
    "a pull of an unknown image names the image and the reason, in words of ours",
    async ({ engine }) => {
      const reference = `${testRegistryAddress()}/glovebox-test/no-such-image:1`;
      const error = await failureOf(engine.images.pull(reference, { useCredentials: true }), "IMAGE_UNAVAILABLE");
      expect(error.message).toContain(reference);
      expect(error.message).toMatch(/is not available: it was not found in its registry/);
    },
    { capability: "images", requirement: "registry" },
  );

  behaviour(
    "images.pull-no-registry",
    "a pull from a missing registry names the image",
    async ({ engine }) => {
      // Port 1 of loopback: nothing listens there.
      const reference = "127.0.0.1:1/glovebox-test/minimal:1";
      const error = await failureOf(engine.images.pull(reference, { useCredentials: true }), "IMAGE_UNAVAILABLE");
      expect(error.message).toContain(reference);
      expect(await engine.images.has(reference)).toBe(false);
    },
    { capability: "images" },
  );

  behaviour(
    "images.list",
    "an image made from a container is found by its labels, which override the container's, and removed when no container uses it",
    async (scene) => {
      const maker = await scene.idle({ scratch: [], workingDirectory: "/", writableRoot: { folders: [] } });
      const expiresAt = "2030-01-02T03:04:05.678Z";
      const made = { [labels.owner]: scene.owner, [labels.sandbox]: createId("image"), [labels.expiresAt]: expiresAt };
      const id = await maker.commit(made);
      const find = () => scene.engine.images.list(made);
      try {
        expect(await find()).toMatchObject([{ id, labels: made }]);
        expect(await scene.engine.images.list({ ...made, [labels.owner]: "nobody" })).toEqual([]);
        const user = await scene.create({ image: id, scratch: [], workingDirectory: "/" });
        const [image] = await find();
        expect(await image?.remove(), "a container uses it that was not even started").toBe(false);
        expect(await find()).toHaveLength(1);
        expect(await scene.containers(), "and stays").toHaveLength(2);
        await user.remove();
        expect(await image?.remove()).toBe(true);
        expect(await find()).toEqual([]);
        expect(await image?.remove(), "gone already").toBe(true);
      } finally {
        await scene.engine.images.remove(id);
      }
    },
    { capability: "diskLimit" },
  );

  behaviour(
    "images.list-inherited",
    "such an image, or one based on it, is found by its whole id alone, and the latter is not listed",
    async (scene) => {
      const maker = await scene.idle({ scratch: [], workingDirectory: "/", writableRoot: { folders: [] } });
      const made = { [labels.owner]: scene.owner, [labels.sandbox]: createId("image") };
      const id = await maker.commit(made);
      const { images: store } = scene.engine;
      const reference = `glovebox-test/inherits-${createId("it")}:1`;
      const { imageId } = scene.subject;
      if (imageId === undefined) throw new Error("The subject has no imageId.");
      const build = async (round: number): Promise<string> => {
        const content = Buffer.from(`FROM ${id}\nENV ROUND=${round}\n`);
        const context = tarOf([{ path: "Dockerfile", content }]);
        // The build looks for its result by its name, under which nothing may use it.
        await failureOf(store.build({ reference, context, arguments: {}, labels: {} }), "POLICY_DENIED");
        return imageId(reference);
      };
      const nameless = await build(1);
      try {
        await build(2);
        expect(await store.labels(nameless), "it is there, and has no name any more").toMatchObject(made);
        expect((await store.list(made)).map((image) => image.id)).toEqual([id]);
        const digits = id.replace("sha256:", "");
        for (const name of [
          `localhost/glovebox-made:${digits.slice(0, 12)}`,
          digits.slice(0, 5),
          digits.slice(0, 12),
        ]) {
          expect(await store.has(name), name).toBe(false);
          await failureOf(scene.create({ image: name }), "IMAGE_UNAVAILABLE");
        }
        await failureOf(store.has(`sha256:${digits.slice(0, 12)}`), "INVALID_REQUEST");
        const { "glovebox.image": tag = "" } = await store.labels(id);
        for (const name of [reference, `localhost/glovebox-made:${tag}`]) {
          await failureOf(store.has(name), "POLICY_DENIED");
          await failureOf(scene.create({ image: name }), "POLICY_DENIED");
        }
      } finally {
        for (const each of [reference, nameless, id]) await store.remove(each);
      }
    },
    { capability: "diskLimit" },
  );
};
