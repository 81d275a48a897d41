// Loaded into the Pi that curator starts for one review, as the only extension: it lets one request leave, and tells its
// status. Without it a call of a tool that is not there, a retry, or a client's own second try would each be paid for.
const SECOND_REQUEST = 70;

export default function (pi) {
	let ui;
	let isSent = false;
	let isFetched = false;
	const tell = (fact) => ui?.setStatus("curator", JSON.stringify(fact));
	const fetchIt = globalThis.fetch;

	globalThis.fetch = async (...request) => {
		if (!isSent) return fetchIt(...request);
		if (isFetched) process.exit(SECOND_REQUEST);
		isFetched = true;
		try {
			const response = await fetchIt(...request);
			const wait = (name) => response.headers.get(name) ?? undefined;
			tell({ status: response.status, retryAfter: wait("retry-after"), retryAfterMs: wait("retry-after-ms") });
			return response;
		} catch (error) {
			tell({ failed: String(error?.cause?.code ?? error?.code ?? "unknown") });
			throw error;
		}
	};

	pi.on("before_provider_request", (event, context) => {
		if (isSent) process.exit(SECOND_REQUEST);
		isSent = true;
		ui = context.ui;
		tell({ sent: true });
		return bounded(event.payload);
	});
}

function bounded(payload) {
	const most = Number(process.env.CURATOR_OUTPUT_TOKENS);
	if (!most || typeof payload !== "object" || payload === null) return undefined;
	const fields = ["max_tokens", "max_completion_tokens", "max_output_tokens"].filter((field) => payload[field] > most);
	return fields.length ? { ...payload, ...Object.fromEntries(fields.map((field) => [field, most])) } : undefined;
}
