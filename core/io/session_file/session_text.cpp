#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/mapped_file.h"
#include "core/io/session_file/session_file.h"

namespace sonde::io {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson jsonOf(const SessionFile::Node& node) {
    OrderedJson json{{"name", node.name}, {"qualname", node.qualname}};
    if (!node.identity.empty()) json["identity"] = node.identity;
    return json;
}

OrderedJson jsonOf(const SessionFile::Model& model) {
    OrderedJson json{{"path", model.path}};
    if (!model.sha256.empty()) json["sha256"] = model.sha256;
    if (!model.sha256.empty() || model.bytes) json["bytes"] = model.bytes;
    json["format"] = model.format;
    if (!model.tracer.empty()) json["tracer"] = model.tracer;
    if (!model.leaves.empty()) json["leaves"] = model.leaves;
    if (!model.concrete.empty()) json["concrete"] = model.concrete;
    if (model.flatten) json["flatten"] = true;
    if (!model.groups) json["groups"] = false;
    if (!model.passes.empty()) json["passes"] = model.passes;
    if (!model.weights.empty()) json["weights"] = model.weights;
    if (!model.example.empty()) json["example"] = model.example;
    return json;
}

OrderedJson jsonOf(const SessionFile::Input& input) {
    return {{"name", input.name}, {"source", input.source}, {"image", input.preset}, {"resize", input.resize}};
}

OrderedJson jsonOf(const SessionFile::Breakpoint& point) {
    OrderedJson json{{"at", point.where}};
    if (!point.expression.empty()) json[point.isLog ? "log" : "if"] = point.expression;
    json["enabled"] = point.isEnabled;
    if (!point.qualname.empty()) json["qualname"] = point.qualname;
    if (point.ignored != 0) json["ignored"] = point.ignored;
    return json;
}

OrderedJson jsonOf(const SessionFile::Group& group) {
    OrderedJson json{{"kind", group.kind}, {"text", group.text}};
    if (group.call != 0) json["call"] = group.call;
    return json;
}

OrderedJson jsonOf(const SessionFile::Expression& expression) {
    OrderedJson json{{"text", expression.text}, {"enabled", expression.isEnabled}};
    if (expression.pin) json["pin"] = jsonOf(*expression.pin);
    return json;
}

OrderedJson jsonOf(const SessionFile::Note& note) { return {{"node", jsonOf(note.node)}, {"text", note.text}}; }

OrderedJson jsonOf(const SessionFile::Compared::Pair& pair) {
    OrderedJson json{{"a", jsonOf(pair.a)}, {"b", jsonOf(pair.b)}};
    if (pair.isApart) json["apart"] = true;
    return json;
}

OrderedJson jsonOf(const SessionFile::Edit& edit) {
    OrderedJson json{{"node", jsonOf(edit.node)}};
    if (!edit.slice.empty()) json["slice"] = edit.slice;
    json["operation"] = edit.operation;
    if (!edit.text.empty()) json["text"] = edit.text;
    if (edit.number != 0) json["number"] = edit.number;
    if (edit.seed != 0) json["seed"] = edit.seed;
    if (edit.axis != 0) json["axis"] = edit.axis;
    if (!edit.indices.empty()) json["indices"] = edit.indices;
    if (edit.parts != 0) json["parts"] = edit.parts;
    if (!edit.isEnabled) json["enabled"] = false;
    return json;
}

template <typename Item>
OrderedJson listOf(const std::vector<Item>& items) {
    OrderedJson list = OrderedJson::array();
    for (const Item& item : items) list.push_back(jsonOf(item));
    return list;
}

OrderedJson jsonOf(const SessionFile::Tolerances& tolerances) {
    OrderedJson json = OrderedJson::object();
    if (tolerances.float32) json["float32"] = *tolerances.float32;
    if (tolerances.relative) json["rtol"] = *tolerances.relative;
    if (tolerances.absolute) json["atol"] = *tolerances.absolute;
    return json;
}

}  // namespace

std::string sessionText(const SessionFile& file) {
    OrderedJson json{{"format", "sonde-session"}, {"version", SessionFile::kVersion}};
    json["model"] = jsonOf(file.model);
    if (!file.inputData.empty()) json["input_data"] = {{"spec", file.inputData}, {"image", file.inputPreset}};
    json["seed"] = file.seed;
    json["inputs"] = listOf(file.inputs);
    json["watch_points"] = listOf(file.watched);
    json["end_points"] = listOf(file.ends);
    json["watch_groups"] = listOf(file.groups);
    if (file.policy)
        json["watch_policy"] = {
            {"keep", file.policy->keep}, {"budget_bytes", file.policy->budgetBytes}, {"sample", file.policy->sample}};
    json["expressions"] = listOf(file.expressions);
    json["breakpoints"] = listOf(file.breakpoints);
    json["notes"] = listOf(file.notes);
    if (!file.edits.empty()) json["edits"] = listOf(file.edits);
    json["accepted"] = listOf(file.accepted);
    json["comparison"] = {{"tolerances", jsonOf(file.tolerances)}, {"references", file.references}};
    if (!file.compared.model.empty())
        json["comparison"]["side_by_side"] = {{"model", file.compared.model}, {"pairs", listOf(file.compared.pairs)}};
    json["view"] = OrderedJson(file.view);
    if (file.view.empty()) json["view"] = OrderedJson::object();
    for (const auto& [key, text] : file.others)
        if (OrderedJson other = OrderedJson::parse(text, nullptr, false); !other.is_discarded())
            json[key] = std::move(other);
    return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

base::Result<void> writeSession(const std::filesystem::path& path, const SessionFile& file) {
    const std::string text = sessionText(file);
    if (auto again = parseSession(text); !again) {
        base::Error error = again.error();
        error.kind = base::ErrorKind::Run;
        error.what = "the session cannot be saved: " + error.what;
        if (error.where.empty()) error.where = path.string();
        return error;
    }
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_empty(path, ignored)) {
        SONDE_ASSIGN(const auto there, base::MappedFile::open(path));
        if (!looksLikeSession(there->window(0, std::min<std::size_t>(there->sizeBytes(), 4'096))))
            return base::usageError("the file is no session file: it would be overwritten", path.string(),
                                    "choose another name");
    }
    return writeAtomically(path, text);
}

}  // namespace sonde::io
