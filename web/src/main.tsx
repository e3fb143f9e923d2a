import { render } from "preact";
import { Explorer } from "./explorer";
import "./style.css";

const root = document.getElementById("page");
if (root) render(<Explorer />, root);
