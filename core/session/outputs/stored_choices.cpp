// Choices in a session file.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/document/session_model.h"
#include "core/session/outputs/choice.h"
#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxChoices = 1'000;

base::Result<std::string> nameOf(const Json& json, const std::string& path) {
    if (!json.is_string()) return base::unreadable(path + " is no text");
    auto text = json.get<std::string>();
    if (text.size() > io::SessionFile::kMaxName) return base::unreadable(path + " is too long");
    return text;
}

base::Result<Choice> choiceOf(const Json& json, const std::string& path) {
    if (!json.is_object()) return base::unreadable(path + " is no object");
    Choice choice;
    const std::array<std::pair<std::string_view, std::string*>, 4> names{{{"name", &choice.output},
                                                                          {"form", &choice.form},
                                                                          {"labels", &choice.labels},
                                                                          {"vocabulary", &choice.vocabulary}}};
    for (const auto& [key, value] : json.items()) {
        const std::string at = path + "." + key.substr(0, 80);
        SONDE_ASSIGN(const std::string text, nameOf(value, at));
        if (key == "options") {
            if (auto parsed = parseOptions(text, choice); !parsed)
                return base::unreadable(at + ": " + parsed.error().what, {}, parsed.error().hint);
            continue;
        }
        const auto found = std::ranges::find(names, key, &std::pair<std::string_view, std::string*>::first);
        if (found == names.end()) return base::unreadable(at + " is no known key");
        *found->second = text;
    }
    if (choice.output.empty()) return base::unreadable(path + ".name is missing or empty");
    if (!choice.form.empty() && !findForm(choice.form))
        return base::unreadable(path + ".form: there is no form '" + choice.form.substr(0, 80) + "'");
    return choice;
}

std::string stored(const std::string& file, const std::filesystem::path& from, const std::filesystem::path& folder) {
    if (file.empty()) return file;
    const std::filesystem::path path(file);
    return document::storedPath((path.is_absolute() ? path : from / path).lexically_normal(), folder);
}

}  // namespace

base::Result<std::vector<Choice>> parseChoices(std::string_view text) {
    if (text.size() > io::SessionFile::kMaxBytes) return base::unreadable("outputs is too large");
    // Nothing in it is nested deeper than an object in a list: deeper values are refused while they are read.
    constexpr int kMaxNesting = 3;
    bool isTooDeep = false;
    Json json;
    try {
        json = Json::parse(text, [&isTooDeep](int depth, Json::parse_event_t, Json&) {
            isTooDeep = isTooDeep || depth > kMaxNesting;
            return !isTooDeep;
        });
    } catch (const Json::parse_error& error) {
        return base::unreadable("outputs: no JSON at byte " + std::to_string(error.byte));
    } catch (const Json::exception&) {
        return base::unreadable("outputs: a number is out of range");
    }
    if (isTooDeep) return base::unreadable("outputs is nested too deep");
    if (!json.is_array()) return base::unreadable("outputs is no list");
    if (json.size() > kMaxChoices)
        return base::unreadable("outputs has more than " + std::to_string(kMaxChoices) + " items");
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < json.size(); ++i) {
        SONDE_ASSIGN(auto choice, choiceOf(json[i], "outputs[" + std::to_string(i) + "]"));
        choices.push_back(std::move(choice));
    }
    return choices;
}

base::Result<std::vector<Choice>> choicesOf(const io::SessionFile& file) {
    const auto found = file.others.find(kOutputsKey);
    if (found == file.others.end()) return std::vector<Choice>();
    return parseChoices(found->second);
}

void storeChoices(io::SessionFile& file, const std::vector<Choice>& choices) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Choice& each : choices) {
        if (each.isDefault() || list.size() == kMaxChoices) continue;
        nlohmann::ordered_json one{{"name", each.output}};
        if (!each.form.empty()) one["form"] = each.form;
        if (!each.labels.empty()) one["labels"] = each.labels;
        if (!each.vocabulary.empty()) one["vocabulary"] = each.vocabulary;
        if (const std::string options = optionsText(each); !options.empty()) one["options"] = options;
        list.push_back(std::move(one));
    }
    if (list.empty()) file.others.erase(kOutputsKey);
    else
        file.others[kOutputsKey] =
            // As a reader of the whole file has it, which sorts keys.
            Json::parse(list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)).dump();
}

void moveChoices(io::SessionFile& file, const std::optional<std::filesystem::path>& before,
                 const std::filesystem::path& folder) {
    auto choices = choicesOf(file);
    if (!choices || choices->empty()) return;
    std::error_code ignored;
    const std::filesystem::path from = before ? *before : std::filesystem::current_path(ignored);
    for (Choice& choice : *choices)
        for (std::string* const name : {&choice.labels, &choice.vocabulary}) *name = stored(*name, from, folder);
    storeChoices(file, *choices);
}

}  // namespace sonde::session::outputs
