#include "core/session/findings/acceptances.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/analysis/findings/checker.h"
#include "core/base/mapped_file.h"
#include "core/base/nearest.h"

namespace sonde::session {

namespace {

using Json = nlohmann::json;

base::Result<std::string> stringOf(const Json& json, const std::string& path) {
    if (!json.is_string()) return base::unreadable(path + " is no text");
    auto text = json.get<std::string>();
    if (text.size() > io::SessionFile::kMaxText) return base::unreadable(path + " is too long");
    return text;
}

bool isBlank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

base::Result<void> checkId(const std::string& id, const std::string& path) {
    std::vector<std::string> ids;
    for (const analysis::FindingChecker& checker : analysis::findingCheckers()) ids.emplace_back(checker.id);
    if (std::ranges::find(ids, id) != ids.end()) return {};
    base::Error error = base::unreadable(path + ": there is no finding '" + id.substr(0, 80) + "'");
    error.hint = "`sonde findings --list` lists them";
    return error;
}

base::Result<std::vector<std::string>> nodesOf(const Json& json, const std::string& path) {
    if (!json.is_array()) return base::unreadable(path + " is no list");
    if (json.size() > io::SessionFile::kMaxItems) return base::unreadable(path + " has too many items");
    if (json.empty()) {
        base::Error error = base::unreadable(path + " is empty");
        error.hint = "without \"nodes\" every finding of the id is accepted";
        return error;
    }
    std::vector<std::string> nodes;
    for (std::size_t i = 0; i < json.size(); ++i) {
        SONDE_ASSIGN(auto node, stringOf(json[i], path + "[" + std::to_string(i) + "]"));
        nodes.push_back(std::move(node));
    }
    return nodes;
}

base::Result<Acceptance> acceptanceOf(const Json& json, const std::string& path) {
    if (!json.is_object()) return base::unreadable(path + " is no object");
    Acceptance acceptance;
    for (const auto& [key, value] : json.items()) {
        const std::string at = path + "." + key.substr(0, 80);
        if (key == "id") {
            SONDE_ASSIGN(acceptance.id, stringOf(value, at));
            SONDE_TRY(checkId(acceptance.id, at));
        } else if (key == "nodes") {
            SONDE_ASSIGN(acceptance.nodes, nodesOf(value, at));
        } else if (key == "reason") {
            SONDE_ASSIGN(acceptance.reason, stringOf(value, at));
        } else {
            return base::unreadable(at + " is no known key");
        }
    }
    if (acceptance.id.empty()) return base::unreadable(path + ".id is missing");
    if (isBlank(acceptance.reason)) return base::unreadable(path + ".reason is missing or empty");
    return acceptance;
}

base::Result<std::vector<Acceptance>> listOf(const Json& json, const std::string& path) {
    if (!json.is_array()) return base::unreadable(path + " is no list");
    if (json.size() > io::SessionFile::kMaxItems) return base::unreadable(path + " has too many items");
    std::vector<Acceptance> acceptances;
    for (std::size_t i = 0; i < json.size(); ++i) {
        SONDE_ASSIGN(auto acceptance, acceptanceOf(json[i], path + "[" + std::to_string(i) + "]"));
        acceptances.push_back(std::move(acceptance));
    }
    return acceptances;
}

/// Deep nesting is refused while it is read: no value of the format is nested deeper than a list of nodes.
base::Result<Json> jsonOf(std::string_view text) {
    constexpr int kMaxNesting = 8;
    bool isTooDeep = false;
    try {
        Json json = Json::parse(text, [&isTooDeep](int depth, Json::parse_event_t, Json&) {
            isTooDeep = isTooDeep || depth > kMaxNesting;
            return !isTooDeep;
        });
        if (isTooDeep) return base::unreadable("it is nested too deep");
        return json;
    } catch (const Json::parse_error& error) {
        return base::unreadable("no JSON at byte " + std::to_string(error.byte));
    } catch (const Json::exception&) {
        return base::unreadable("a number is out of range");
    }
}

}  // namespace

bool Acceptance::covers(const graph::InternalGraph& graph, const analysis::Finding& finding) const {
    if (finding.id != id) return false;
    if (!nodes) return true;
    const std::vector<std::string> named = analysis::namesOf(graph, finding);
    return !named.empty() && std::ranges::all_of(named, [this](const std::string& name) {
        return std::ranges::find(*nodes, name) != nodes->end();
    });
}

base::Result<std::vector<Acceptance>> parseAcceptances(std::string_view text) {
    if (text.size() > io::SessionFile::kMaxBytes) return base::unreadable("the file of accepted findings is too large");
    SONDE_ASSIGN(const Json json, jsonOf(text));
    if (!json.is_object() || !json.contains("format") || json["format"] != "sonde-accepted")
        return base::unreadable("this is no file of accepted findings: its format is not 'sonde-accepted'");
    if (!json.contains("version") || json["version"] != 1)
        return base::unreadable("the version of the file of accepted findings is not 1");
    for (const auto& [key, value] : json.items())
        if (key != "format" && key != "version" && key != "accepted")
            return base::unreadable(key.substr(0, 80) + " is no known key");
    if (!json.contains("accepted")) return base::unreadable("accepted is missing");
    return listOf(json["accepted"], "accepted");
}

base::Result<std::vector<Acceptance>> readAcceptances(const std::filesystem::path& path) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    if (file->sizeBytes() > io::SessionFile::kMaxBytes)
        return base::unreadable("the file of accepted findings is too large", path.string());
    const std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
    if (file->hasChanged()) return file->changeError("file of accepted findings");
    auto read = parseAcceptances(text);
    if (!read && read.error().where.empty()) read.error().where = path.string();
    return read;
}

base::Result<std::vector<Acceptance>> acceptancesOf(const io::SessionFile& file) {
    const auto stored = file.others.find(kAcceptedFindingsKey);
    if (stored == file.others.end()) return std::vector<Acceptance>();
    SONDE_ASSIGN(const Json json, jsonOf(stored->second));
    return listOf(json, kAcceptedFindingsKey);
}

void storeAcceptances(io::SessionFile& file, const std::vector<Acceptance>& acceptances) {
    if (acceptances.empty()) {
        file.others.erase(kAcceptedFindingsKey);
        return;
    }
    Json list = Json::array();
    for (const Acceptance& each : acceptances) {
        Json one{{"id", each.id}, {"reason", each.reason}};
        if (each.nodes) one["nodes"] = *each.nodes;
        list.push_back(std::move(one));
    }
    file.others[kAcceptedFindingsKey] = list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sonde::session
