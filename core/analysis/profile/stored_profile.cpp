#include "core/analysis/profile/stored_profile.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace sonde::analysis {

using ParsedJson = nlohmann::json;

namespace {

/// No profile of a model is larger.
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30;
constexpr std::string_view kKernelTime = "_kernel_time";

base::Error unreadable(const std::string& what, const std::string& where) {
    return base::Error{base::ErrorKind::Unreadable, what, where, {}, {}};
}

double numberAt(const ParsedJson& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}
std::string textAt(const ParsedJson& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

base::Result<StoredProfile> parseOurs(const ParsedJson& figures) {
    StoredProfile profile;
    profile.engine = "Sonde";
    if (numberAt(figures, "version") != 1) return unreadable("the profile is of an unknown version", "profile.version");
    profile.totalNs = numberAt(figures, "total_ns");
    const auto nodes = figures.find("nodes");
    if (nodes == figures.end() || !nodes->is_array()) return unreadable("there are no nodes", "profile.nodes");
    for (std::size_t i = 0; i < nodes->size(); ++i) {
        const ParsedJson& node = (*nodes)[i];
        const std::string name = node.is_object() ? textAt(node, "name") : std::string();
        if (name.empty()) return unreadable("a node has no name", "profile.nodes[" + std::to_string(i) + "]");
        profile.nodes.push_back({name, textAt(node, "file_name"), textAt(node, "op"),
                                 static_cast<std::int64_t>(std::clamp(numberAt(node, "count"), 0.0, 1e15)),
                                 numberAt(node, "self_ns")});
    }
    return profile;
}

/// Sums of all runs in the file, by the name of the node; then by run.
base::Result<StoredProfile> parseOnnxRuntime(const ParsedJson& events) {
    StoredProfile profile;
    profile.engine = "ONNX Runtime";
    std::map<std::string, std::size_t> positions;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const ParsedJson& event = events[i];
        if (!event.is_object()) return unreadable("an event is no object", "[" + std::to_string(i) + "]");
        const std::string category = textAt(event, "cat");
        std::string name = textAt(event, "name");
        if (category == "Session" && name == "model_run") {
            ++runs;
            profile.totalNs += numberAt(event, "dur") * 1e3;
        }
        if (category != "Node" || !name.ends_with(kKernelTime)) continue;
        name.resize(name.size() - kKernelTime.size());
        const auto [found, isNew] = positions.emplace(name, profile.nodes.size());
        if (isNew) {
            const auto arguments = event.find("args");
            const bool has = arguments != event.end() && arguments->is_object();
            profile.nodes.push_back({name, name, has ? textAt(*arguments, "op_name") : "", 0, 0});
        }
        profile.nodes[found->second].selfNs += numberAt(event, "dur") * 1e3;
        ++profile.nodes[found->second].count;
    }
    if (profile.nodes.empty())
        return unreadable("there is no event of a node: no profile of ONNX Runtime, or one without a run", "events");
    profile.runs = std::max<std::size_t>(runs, 1);
    profile.totalNs /= static_cast<double>(profile.runs);
    for (StoredNode& node : profile.nodes) node.selfNs /= static_cast<double>(profile.runs);
    return profile;
}

}  // namespace

base::Result<StoredProfile> parseProfile(std::string_view text) {
    ParsedJson json;
    try {
        json = ParsedJson::parse(text);
    } catch (const ParsedJson::parse_error& error) {
        return unreadable("no JSON: syntax error at byte " + std::to_string(error.byte), {});
    } catch (const ParsedJson::exception&) {
        return unreadable("no JSON", {});
    }
    if (json.is_array()) return parseOnnxRuntime(json);
    if (json.is_object() && textAt(json, "format") == "sonde-profile") return parseOurs(json);
    if (json.is_object() && json.contains("profile") && json["profile"].is_object() &&
        textAt(json["profile"], "format") == "sonde-profile")
        return parseOurs(json["profile"]);
    if (json.is_object() && json.contains("traceEvents") && json["traceEvents"].is_array())
        return parseOnnxRuntime(json["traceEvents"]);
    return unreadable("neither a profile of Sonde nor one of ONNX Runtime", "profile");
}

base::Result<StoredProfile> readProfile(const std::filesystem::path& path) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    if (failed) return unreadable("the profile cannot be read: " + failed.message(), path.string());
    if (size > kMaxBytes) return unreadable("the profile is larger than 1 GiB", path.string());
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) return unreadable("the profile cannot be read", path.string());
    auto profile = parseProfile(text);
    if (profile) return profile;
    base::Error error = profile.error();
    error.where = path.string() + (error.where.empty() ? "" : ", " + error.where);
    return error;
}

StoredProfile storedOf(const RunProfile& profile) {
    StoredProfile stored;
    stored.engine = "Sonde";
    stored.totalNs = static_cast<double>(profile.totalNs);
    for (const ProfiledExpr& entry : profile.exprs) {
        const graph::Expr& expr = profile.graph->expr(entry.expr);
        stored.nodes.push_back({profile.nameOf(entry.expr), expr.name, operatorTitle(expr), entry.count,
                                static_cast<double>(entry.selfNs)});
    }
    return stored;
}

}  // namespace sonde::analysis
