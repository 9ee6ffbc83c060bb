#include "core/session/precision_commands.h"

#include <nlohmann/json.hpp>

#include "core/document/without_writes.h"
#include "core/session/edits/edit_count.h"
#include "core/session/edits/edited_model.h"
#include "core/session/precision/precision.h"

namespace sonde::session {

using nlohmann::ordered_json;
using why::PlaceProblem;

namespace {

/// Nodes that one answer lists, the first in execution order.
constexpr std::size_t kMaxPrecisionNodes = 200;

base::Result<precision::Report> measured(Session& session, const precision::SimulationOptions& options,
                                         std::shared_ptr<const document::Document>& document,
                                         const base::WorkContext& work) {
    // What the session shows is the run with edits.
    SONDE_ASSIGN(document, withEdits(session.document(), session.edits()));
    SONDE_ASSIGN(document, document::withoutWrites(document, work));
    if (!session.inputs().areAllGiven())
        return base::usageError("the inputs are not read yet", {}, "run or step first");
    precision::Request request;
    request.inputs = session.inputs().values();
    request.seed = session.runs().settings().seed;
    request.threads = session.runs().settings().threads;
    request.limits = session.debugger().limits();
    return precision::measure(*document, options, request, work);
}

}  // namespace

std::optional<PlaceProblem> answerPrecision(Session& session, debug::Words& words, ordered_json& answer,
                                            const base::WorkContext& work) {
    const std::size_t column = words.column();
    auto type = precision::numberType(words.next());
    if (!type) return PlaceProblem{std::move(type).error(), column};
    precision::SimulationOptions options;
    options.type = *type;
    const std::size_t queryColumn = words.column();
    if (!words.atEnd()) options.queries.emplace_back(words.rest());
    std::shared_ptr<const document::Document> document;
    auto report = measured(session, options, document, work);
    if (!report) return PlaceProblem{std::move(report).error(), options.queries.empty() ? column : queryColumn};
    ordered_json all;
    precision::addReport(all, *report, *document->graph);
    if (all["nodes"].size() > kMaxPrecisionNodes) {
        all["truncated"] = all["nodes"].size();
        all["nodes"].erase(all["nodes"].begin() + static_cast<std::ptrdiff_t>(kMaxPrecisionNodes), all["nodes"].end());
    }
    if (const std::size_t edits = countingEdits(session.edits()); edits > 0) all["edits"] = edits;
    answer["precision"] = std::move(all);
    return std::nullopt;
}

}  // namespace sonde::session
