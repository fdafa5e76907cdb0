import { render } from "preact";
import { App } from "./app.tsx";
import { followAddress } from "./route.ts";
import { openSession } from "./ask.ts";
import { openTheme } from "./theme.ts";

openSession();
openTheme();
followAddress();
const place = document.querySelector("#console");
if (place !== null) {
  place.replaceChildren();
  render(<App />, place);
}
