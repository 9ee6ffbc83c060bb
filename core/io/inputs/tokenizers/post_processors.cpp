#include "core/io/inputs/tokenizers/post_processors.h"

#include <algorithm>
#include <string>

namespace sonde::io {

namespace {

using base::Result;

constexpr std::size_t kMaxTemplate = 1'000;

Result<Template> readNothing(const JsonPlace&) { return Template{TemplatePart{}}; }

/// The ids that a name in a template stands for.
Result<void> addSpecial(const JsonPlace& place, const JsonPlace& part, std::int64_t type, Template& to) {
    SONDE_ASSIGN(const std::string name, part.text("id"));
    SONDE_ASSIGN(const JsonPlace all, place.at("special_tokens"));
    const std::optional<JsonPlace> special = all.find(name);
    if (!special) return part.error("'" + name.substr(0, 60) + "' is none of 'special_tokens'");
    SONDE_ASSIGN(const std::vector<JsonPlace> ids, special->items("ids"));
    for (const JsonPlace& at : ids) {
        SONDE_ASSIGN(const std::int64_t id, at.integer());
        to.push_back({false, id, type});
    }
    return {};
}

Result<Template> readTemplate(const JsonPlace& place) {
    SONDE_ASSIGN(const std::vector<JsonPlace> parts, place.items("single"));
    Template made;
    for (const JsonPlace& part : parts) {
        const std::optional<JsonPlace> special = part.find("SpecialToken"), text = part.find("Sequence");
        if (!special && !text) return part.error("'SpecialToken' or 'Sequence' is expected");
        SONDE_ASSIGN(const std::int64_t type, (special ? special : text)->integer("type_id"));
        if (text) made.push_back({true, 0, type});
        else SONDE_TRY(addSpecial(place, *special, type, made));
        if (made.size() > kMaxTemplate) return place.error("the template is too long");
    }
    if (std::ranges::count(made, true, &TemplatePart::isText) > 1) return place.error("the text is there twice");
    return made;
}

/// ["[SEP]", 102]
Result<std::int64_t> readNamedId(const JsonPlace& place, std::string_view key) {
    SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items(key));
    if (items.size() != 2) return place.error("'" + std::string(key) + "' is no token with its id");
    return items[1].integer();
}

Result<Template> readClassAndSeparator(const JsonPlace& place) {
    SONDE_ASSIGN(const std::int64_t first, readNamedId(place, "cls"));
    SONDE_ASSIGN(const std::int64_t last, readNamedId(place, "sep"));
    return Template{{false, first, 0}, {true, 0, 0}, {false, last, 0}};
}

Result<Template> readPostSequence(const JsonPlace& place) {
    SONDE_ASSIGN(const std::vector<JsonPlace> items, place.items("processors"));
    Template made{TemplatePart{}};
    for (const JsonPlace& item : items) {
        SONDE_ASSIGN(const Template outer, readPostProcessor(item));
        Template both;
        for (const TemplatePart& part : outer) {
            if (part.isText) both.insert(both.end(), made.begin(), made.end());
            else both.push_back(part);
        }
        if (both.size() > kMaxTemplate) return place.error("the template is too long");
        made = std::move(both);
    }
    return made;
}

struct PostProcessorKind {
    std::string_view type;
    Result<Template> (*read)(const JsonPlace& place);
};

constexpr PostProcessorKind kPostProcessors[] = {
    {"TemplateProcessing", readTemplate},
    {"BertProcessing", readClassAndSeparator},
    {"RobertaProcessing", readClassAndSeparator},
    {"ByteLevel", readNothing},  // it changes offsets alone
    {"Sequence", readPostSequence},
};

}  // namespace

base::Result<Template> readPostProcessor(const JsonPlace& place) {
    SONDE_ASSIGN(const PostProcessorKind* const kind, place.kindIn(kPostProcessors, "post-processor"));
    return kind->read(place);
}

}  // namespace sonde::io
