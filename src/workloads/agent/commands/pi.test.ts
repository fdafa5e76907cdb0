import { describe, expect, it } from "vitest";
import { piModel } from "./pi.ts";

describe("a provider that pi knows", () => {
  it("is asked with its own key, which PI_API_KEY stands for", () => {
    expect(piModel({ PI_API: "zai", PI_MODEL: "glm-4.7", PI_API_KEY: "k" })).toEqual({
      flags: ["--provider", "zai", "--model", "glm-4.7"],
      variables: { ZAI_API_KEY: "k" },
      custom: null,
    });
  });

  it("keeps the key that is set for it", () => {
    expect(piModel({ PI_API: "zai", PI_API_KEY: "k", ZAI_API_KEY: "z" }).variables).toEqual({});
  });

  it("is left to pi when nothing is said", () => {
    expect(piModel({ ANTHROPIC_API_KEY: "k", PI_BASE_URL: "" })).toEqual({ flags: [], variables: {}, custom: null });
  });

  it("is reached at another address, with the models that pi knows of it", () => {
    const { custom } = piModel({ PI_API: "anthropic", PI_BASE_URL: "https://gateway.test", ANTHROPIC_API_KEY: "k" });
    expect(custom).toEqual({
      provider: "anthropic",
      baseUrl: "https://gateway.test",
      api: "anthropic-messages",
      apiKey: "$ANTHROPIC_API_KEY",
      model: null,
    });
  });
});

describe("a server of one's own", () => {
  const variables = { PI_MODEL: "llama", PI_BASE_URL: "http://model.test/v1" };

  it("speaks chat completions unless another API is named", () => {
    expect(piModel(variables)).toEqual({
      flags: ["--provider", "custom", "--model", "llama"],
      variables: {},
      custom: {
        provider: "custom",
        baseUrl: "http://model.test/v1",
        api: "openai-completions",
        apiKey: "none",
        model: "llama",
      },
    });
    expect(piModel({ ...variables, PI_API: "openai-responses" }).custom).toMatchObject({
      provider: "custom",
      api: "openai-responses",
    });
  });

  it("is asked with the first key there is, by the name of its variable", () => {
    expect(piModel({ ...variables, OPENAI_API_KEY: "o" }).custom?.apiKey).toBe("$OPENAI_API_KEY");
    expect(piModel({ ...variables, OPENAI_API_KEY: "o", PI_API_KEY: "p" }).custom?.apiKey).toBe("$PI_API_KEY");
  });

  it("at OPENAI_BASE_URL is for what speaks as OpenAI does", () => {
    const openai = { PI_MODEL: "llama", OPENAI_BASE_URL: "http://model.test/v1" };
    expect(piModel(openai).custom?.baseUrl).toBe("http://model.test/v1");
    expect(piModel({ ...openai, PI_API: "anthropic" }).custom).toBeNull();
  });
});
