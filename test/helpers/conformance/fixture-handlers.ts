import { z } from "zod";
import { GloveboxError } from "../../../src/errors/glovebox-error.ts";
import {
  defineOperation,
  type OperationCall,
  type ToolForm,
} from "../../../src/operations/contract/operation-contract.ts";
import { handle, type Handler } from "../../../src/operations/handler.ts";

const response = z.object({ text: z.string() });
type FixtureResponse = z.output<typeof response>;

const tool: ToolForm<FixtureResponse> = {
  title: "Fixture",
  readOnly: true,
  destructive: false,
  idempotent: true,
  openWorld: false,
  mayTakeLong: false,
  text: ({ text }) => text,
};

interface Fixture {
  readonly name: string;
  readonly request?: z.ZodObject;
  readonly form?: Partial<ToolForm<FixtureResponse>>;
  readonly run?: (call: OperationCall) => Promise<void>;
}

function fixture({ name, request = z.strictObject({}), form, run }: Fixture): Handler {
  const contract = defineOperation({
    name,
    audience: "everyone",
    description: "A fixture of the conformance suite.",
    request,
    response,
    routes: [],
    tool: { ...tool, ...form },
  });
  return handle(contract, async (_parts, _request, call) => {
    await run?.(call);
    return { text: "This is a simple text response for testing." };
  });
}

/** One red pixel. */
export const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** Those tools of the conformance suite whose answers operations can give. */
export const fixtureHandlers: readonly Handler[] = [
  fixture({ name: "test_simple_text" }),
  fixture({
    name: "test_image_content",
    form: { images: () => [{ base64: onePixel, mediaType: "image/png" }] },
  }),
  fixture({
    name: "test_error_handling",
    run: async () => {
      throw new GloveboxError("UNSUPPORTED", "This tool intentionally returns an error for testing");
    },
  }),
  fixture({
    name: "test_tool_with_progress",
    run: async ({ onEvent }) => {
      for (const fraction of [0, 0.5, 1]) {
        await onEvent?.({ type: "progress", message: `${fraction * 100} %`, fraction });
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    },
  }),
  fixture({
    name: "json_schema_2020_12_tool",
    request: z.strictObject({
      name: z.string().optional(),
      address: z.object({ street: z.string(), city: z.string() }).meta({ id: "address" }).optional(),
    }),
  }),
];
