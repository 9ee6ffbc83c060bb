#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/mapped_file.h"
#include "core/io/session_file/session_file.h"

namespace sonde::io {

namespace {

using Json = nlohmann::json;

/// What is wrong first, with the path of its key.
struct Refused {
    std::optional<base::Error> error;

    void refuse(std::string what, std::string hint = {}) {
        if (!error) error = base::unreadable(std::move(what), {}, std::move(hint));
    }
};

/// Line ends and tabs belong to texts alone.
bool isPlain(const std::string& text, bool mayHaveLines) {
    return std::ranges::none_of(text, [&](char c) {
        const bool isLine = c == '\n' || c == '\t' || c == '\r';
        return static_cast<unsigned char>(c) < 0x20 && !(mayHaveLines && isLine);
    });
}

/// One object of the file: its keys are taken one by one, and what is left is unknown.
class Object {
  public:
    Object(Refused& refused, const Json& json, std::string path)
        : m_refused(refused), m_json(json), m_path(std::move(path)) {
        if (!json.is_object()) m_refused.refuse(m_path + " is no object");
    }

    void name(const char* key, std::string& into, bool isRequired = false) {
        text(key, into, SessionFile::kMaxName, false, isRequired);
    }
    void text(const char* key, std::string& into, std::size_t maxBytes = SessionFile::kMaxText, bool hasLines = true,
              bool isRequired = false) {
        if (const Json* json = take(key, isRequired)) takeText(*json, at(key), into, maxBytes, hasLines);
    }
    void flag(const char* key, bool& into) {
        const Json* json = take(key);
        if (!json) return;
        if (!json->is_boolean()) return m_refused.refuse(at(key) + " is neither true nor false");
        into = json->get<bool>();
    }
    template <typename Integer>
    void integer(const char* key, Integer& into, std::uint64_t max) {
        const Json* json = take(key);
        if (!json) return;
        if (!json->is_number_unsigned() || json->get<std::uint64_t>() > max)
            return m_refused.refuse(at(key) + " is no integer from 0 to " + std::to_string(max));
        into = static_cast<Integer>(json->get<std::uint64_t>());
    }
    /// Of any sign.
    void anyNumber(const char* key, double& into) {
        const Json* json = take(key);
        if (!json) return;
        if (!json->is_number() || !std::isfinite(json->get<double>()))
            return m_refused.refuse(at(key) + " is no finite number");
        into = json->get<double>();
    }
    void index(const char* key, std::int64_t& into) {
        if (const Json* json = take(key)) takeIndex(*json, at(key), into);
    }
    void indices(const char* key, std::vector<std::int64_t>& into) {
        list(key, [&](const Json& json, const std::string& path) { takeIndex(json, path, into.emplace_back()); });
    }
    void number(const char* key, std::optional<double>& into) {
        const Json* json = take(key);
        if (!json) return;
        if (!json->is_number()) return m_refused.refuse(at(key) + " is no number");
        const double value = json->get<double>();
        if (!std::isfinite(value) || value < 0) return m_refused.refuse(at(key) + " is negative or infinite");
        into = value;
    }
    /// `add(json, path)` for each item.
    template <typename Add>
    void list(const char* key, Add add) {
        const Json* json = take(key);
        if (!json) return;
        if (!json->is_array()) return m_refused.refuse(at(key) + " is no list");
        if (json->size() > SessionFile::kMaxItems)
            return m_refused.refuse(at(key) + " has more than " + std::to_string(SessionFile::kMaxItems) + " items");
        for (std::size_t i = 0; i < json->size() && !m_refused.error; ++i)
            add((*json)[i], at(key) + '[' + std::to_string(i) + ']');
    }
    void names(const char* key, std::vector<std::string>& into) {
        list(key, [&](const Json& json, const std::string& path) {
            takeText(json, path, into.emplace_back(), SessionFile::kMaxName, false);
        });
    }
    const Json* take(const char* key, bool isRequired = false) {
        if (!m_json.is_object() || m_refused.error) return nullptr;
        m_known.insert(key);
        const auto found = m_json.find(key);
        if (found != m_json.end()) return &*found;
        if (isRequired) m_refused.refuse(at(key) + " is missing");
        return nullptr;
    }
    std::string at(std::string_view key) const { return (m_path.empty() ? "" : m_path + '.') + std::string(key); }
    std::vector<std::string> unknown() const {
        std::vector<std::string> keys;
        if (!m_json.is_object()) return keys;
        for (const auto& [key, value] : m_json.items())
            if (!m_known.contains(key)) keys.push_back(key);
        return keys;
    }
    void end() {
        for (const std::string& key : unknown())
            m_refused.refuse("unknown key " + at(key.substr(0, 80)), "a newer version of Sonde may have written it");
    }
    void takeText(const Json& json, const std::string& path, std::string& into, std::size_t maxBytes, bool hasLines) {
        if (!json.is_string()) return m_refused.refuse(path + " is no text");
        const auto& text = json.get_ref<const std::string&>();
        if (text.size() > maxBytes)
            return m_refused.refuse(path + " is longer than " + std::to_string(maxBytes) + " bytes");
        if (!isPlain(text, hasLines)) return m_refused.refuse(path + " contains control characters");
        into = text;
    }

  private:
    /// Positions and axes; negative ones count from the end.
    void takeIndex(const Json& json, const std::string& path, std::int64_t& into) {
        constexpr std::int64_t kMax = INT32_MAX;
        const bool isLarge = json.is_number_unsigned() && json.get<std::uint64_t>() > kMax;
        if (!json.is_number_integer() || isLarge || json.get<std::int64_t>() < -kMax)
            return m_refused.refuse(path + " is no integer from -" + std::to_string(kMax) + " to " +
                                    std::to_string(kMax));
        into = json.get<std::int64_t>();
    }

    Refused& m_refused;
    const Json& m_json;
    std::string m_path;
    std::set<std::string, std::less<>> m_known;
};

bool isHash(const std::string& text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

SessionFile::Node nodeOf(Refused& refused, const Json& json, const std::string& path) {
    SessionFile::Node node;
    Object object(refused, json, path);
    object.name("name", node.name, true);
    object.name("qualname", node.qualname);
    object.text("identity", node.identity);  // its parts are separated by tabs
    object.end();
    return node;
}

void takeModel(Refused& refused, const Json& json, SessionFile::Model& model) {
    Object object(refused, json, "model");
    object.name("path", model.path, true);
    object.name("sha256", model.sha256);
    object.integer("bytes", model.bytes, std::uint64_t{1} << 62);
    object.name("format", model.format);
    object.name("tracer", model.tracer);
    object.names("leaves", model.leaves);
    object.names("concrete", model.concrete);
    object.flag("flatten", model.flatten);
    object.flag("groups", model.groups);
    object.names("passes", model.passes);
    object.name("weights", model.weights);
    object.text("example", model.example);
    object.end();
    if (model.path.empty()) refused.refuse("model.path is empty");
    if (!model.sha256.empty() && !isHash(model.sha256))
        refused.refuse("model.sha256 is not 64 lower-case hexadecimal digits");
}

void takeInputs(Refused& refused, Object& root, SessionFile& file) {
    if (const Json* json = root.take("input_data")) {
        Object object(refused, *json, "input_data");
        object.text("spec", file.inputData, SessionFile::kMaxText, false);
        object.name("image", file.inputPreset);
        object.end();
    }
    root.integer("seed", file.seed, UINT64_MAX);
    root.list("inputs", [&](const Json& json, const std::string& path) {
        SessionFile::Input& input = file.inputs.emplace_back();
        Object object(refused, json, path);
        object.name("name", input.name, true);
        object.text("source", input.source, SessionFile::kMaxText, true, true);
        object.name("image", input.preset);
        object.flag("resize", input.resize);
        object.end();
    });
}

void takeWatches(Refused& refused, Object& root, SessionFile& file) {
    const auto nodes = [&](const char* key, std::vector<SessionFile::Node>& into) {
        root.list(key, [&](const Json& json, const std::string& path) { into.push_back(nodeOf(refused, json, path)); });
    };
    nodes("watch_points", file.watched);
    nodes("end_points", file.ends);
    nodes("accepted", file.accepted);
    root.list("watch_groups", [&](const Json& json, const std::string& path) {
        SessionFile::Group& group = file.groups.emplace_back();
        Object object(refused, json, path);
        object.name("kind", group.kind, true);
        object.name("text", group.text);
        object.integer("call", group.call, INT32_MAX);
        object.end();
    });
    if (const Json* json = root.take("watch_policy")) {
        SessionFile::Policy policy;
        Object object(refused, *json, "watch_policy");
        object.name("keep", policy.keep, true);
        object.integer("budget_bytes", policy.budgetBytes, UINT64_MAX);
        object.integer("sample", policy.sample, INT32_MAX);
        object.end();
        file.policy = std::move(policy);
    }
    root.list("expressions", [&](const Json& json, const std::string& path) {
        SessionFile::Expression& expression = file.expressions.emplace_back();
        Object object(refused, json, path);
        object.text("text", expression.text, SessionFile::kMaxText, true, true);
        object.flag("enabled", expression.isEnabled);
        if (const Json* pin = object.take("pin")) expression.pin = nodeOf(refused, *pin, object.at("pin"));
        object.end();
    });
}

void takeBreakpoints(Refused& refused, Object& root, SessionFile& file) {
    root.list("breakpoints", [&](const Json& json, const std::string& path) {
        SessionFile::Breakpoint& point = file.breakpoints.emplace_back();
        Object object(refused, json, path);
        object.name("at", point.where, true);
        std::string log;
        object.text("if", point.expression);
        object.text("log", log);
        object.flag("enabled", point.isEnabled);
        object.name("qualname", point.qualname);
        object.integer("ignored", point.ignored, UINT32_MAX);
        object.end();
        if (!log.empty() && !point.expression.empty()) return refused.refuse(path + " has both if and log");
        if (!log.empty()) point.isLog = true, point.expression = std::move(log);
    });
}

void takeNotes(Refused& refused, Object& root, SessionFile& file) {
    root.list("notes", [&](const Json& json, const std::string& path) {
        SessionFile::Note& note = file.notes.emplace_back();
        Object object(refused, json, path);
        if (const Json* node = object.take("node", true)) note.node = nodeOf(refused, *node, object.at("node"));
        object.text("text", note.text, SessionFile::kMaxText, true, true);
        object.end();
    });
}

void takeEdits(Refused& refused, Object& root, SessionFile& file) {
    root.list("edits", [&](const Json& json, const std::string& path) {
        SessionFile::Edit& edit = file.edits.emplace_back();
        Object object(refused, json, path);
        if (const Json* node = object.take("node", true)) edit.node = nodeOf(refused, *node, object.at("node"));
        object.text("slice", edit.slice, SessionFile::kMaxText, false);
        object.name("operation", edit.operation, true);
        object.text("text", edit.text, SessionFile::kMaxText, false);
        object.anyNumber("number", edit.number);
        object.integer("seed", edit.seed, UINT64_MAX);
        object.index("axis", edit.axis);
        object.indices("indices", edit.indices);
        object.index("parts", edit.parts);
        object.flag("enabled", edit.isEnabled);
        object.end();
        if (edit.parts < 0) refused.refuse(path + ".parts is negative");
    });
}

void takeCompared(Refused& refused, const Json& json, SessionFile::Compared& compared) {
    Object object(refused, json, "comparison.side_by_side");
    object.name("model", compared.model, true);
    object.list("pairs", [&](const Json& item, const std::string& path) {
        SessionFile::Compared::Pair& pair = compared.pairs.emplace_back();
        Object each(refused, item, path);
        if (const Json* node = each.take("a", true)) pair.a = nodeOf(refused, *node, each.at("a"));
        if (const Json* node = each.take("b", true)) pair.b = nodeOf(refused, *node, each.at("b"));
        each.flag("apart", pair.isApart);
        each.end();
    });
    object.end();
}

void takeComparison(Refused& refused, Object& root, SessionFile& file) {
    const Json* json = root.take("comparison");
    if (!json) return;
    Object object(refused, *json, "comparison");
    if (const Json* tolerances = object.take("tolerances")) {
        Object each(refused, *tolerances, "comparison.tolerances");
        each.number("float32", file.tolerances.float32);
        each.number("rtol", file.tolerances.relative);
        each.number("atol", file.tolerances.absolute);
        each.end();
    }
    object.names("references", file.references);
    if (const Json* beside = object.take("side_by_side")) takeCompared(refused, *beside, file.compared);
    object.end();
}

void takeView(Refused& refused, Object& root, SessionFile& file) {
    const Json* json = root.take("view");
    if (!json) return;
    if (!json->is_object()) return refused.refuse("view is no object");
    if (json->size() > SessionFile::kMaxItems) return refused.refuse("view has too many keys");
    Object object(refused, *json, "view");
    for (const auto& [key, value] : json->items()) {
        if (key.size() > SessionFile::kMaxName) return refused.refuse("a key of view is too long");
        object.takeText(value, "view." + key, file.view[key], SessionFile::kMaxText, true);
    }
}

void takeAll(Refused& refused, const Json& json, SessionFile& file) {
    Object root(refused, json, "");
    std::string format;
    root.name("format", format, true);
    if (!refused.error && format != "sonde-session")
        refused.refuse("format is '" + format.substr(0, 80) + "', not 'sonde-session'");
    int version = 0;
    root.integer("version", version, INT32_MAX);
    if (version > SessionFile::kVersion)
        refused.refuse("version " + std::to_string(version) + " is newer than this Sonde, which knows version " +
                           std::to_string(SessionFile::kVersion),
                       "open it with a newer Sonde");
    if (version < 1) refused.refuse("version is missing or 0");
    if (const Json* model = root.take("model", true)) takeModel(refused, *model, file.model);
    takeInputs(refused, root, file);
    takeWatches(refused, root, file);
    takeBreakpoints(refused, root, file);
    takeNotes(refused, root, file);
    takeEdits(refused, root, file);
    takeComparison(refused, root, file);
    takeView(refused, root, file);
    if (refused.error) return;
    for (const std::string& key : root.unknown()) {
        if (file.others.size() == SessionFile::kMaxItems) return refused.refuse("there are too many unknown keys");
        file.others[key] = json[key].dump();
    }
}

/// Deep nesting is refused before anything is built of it.
bool isTooDeep(std::string_view text) {
    std::size_t depth = 0;
    bool isString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isString) {
            if (c == '\\') ++i;
            else if (c == '"') isString = false;
        } else if (c == '"') {
            isString = true;
        } else if (c == '{' || c == '[') {
            if (++depth > SessionFile::kMaxDepth) return true;
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return false;
}

/// Of two values for one key nobody knows which counts.
struct TwiceGiven {
    std::vector<std::set<std::string>> keys;
    std::string first;

    bool operator()(int, Json::parse_event_t event, Json& json) {
        using Event = Json::parse_event_t;
        if (event == Event::object_start) keys.emplace_back();
        else if (event == Event::object_end && !keys.empty()) keys.pop_back();
        else if (event == Event::key && !keys.empty() && !keys.back().insert(json.get<std::string>()).second &&
                 first.empty())
            first = json.get<std::string>().substr(0, 80);
        return true;
    }
};

}  // namespace

bool looksLikeSession(std::span<const std::byte> head) {
    std::string text(reinterpret_cast<const char*>(head.data()), std::min<std::size_t>(head.size(), 4'096));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
    return text.starts_with(R"({"format":"sonde-session")");
}

base::Result<SessionFile> parseSession(std::string_view text) {
    if (text.size() > SessionFile::kMaxBytes)
        return base::unreadable("the session file is larger than " + std::to_string(SessionFile::kMaxBytes >> 20) +
                                " MiB");
    if (isTooDeep(text))
        return base::unreadable("the session file is nested deeper than " + std::to_string(SessionFile::kMaxDepth) +
                                " levels");
    Json json;
    TwiceGiven twice;
    try {
        json = Json::parse(
            text, [&twice](int depth, Json::parse_event_t event, Json& parsed) { return twice(depth, event, parsed); });
    } catch (const Json::parse_error& error) {
        return base::unreadable("the session file is damaged: no JSON at byte " + std::to_string(error.byte));
    } catch (const Json::exception&) {  // a number beyond the range of double
        return base::unreadable("the session file is damaged: a number is out of range");
    }
    if (!twice.first.empty()) return base::unreadable("key '" + twice.first + "' is given twice");
    SessionFile file;
    Refused refused;
    takeAll(refused, json, file);
    if (refused.error) return std::move(*refused.error);
    return file;
}

base::Result<SessionFile> readSession(const std::filesystem::path& path) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    if (file->sizeBytes() > SessionFile::kMaxBytes)
        return base::unreadable(
            "the session file is larger than " + std::to_string(SessionFile::kMaxBytes >> 20) + " MiB", path.string());
    const std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
    if (file->hasChanged()) return file->changeError("session file");
    auto read = parseSession(text);
    if (!read && read.error().where.empty()) read.error().where = path.string();
    return read;
}

}  // namespace sonde::io
