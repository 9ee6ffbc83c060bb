// Text as values of inputs: ids of tokens, and what goes with them.

#include "core/io/inputs/text_input.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/count_text.h"
#include "core/base/trimmed.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/text_item.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr std::size_t kListedTokens = 64;
constexpr std::int64_t kMaxIds = std::int64_t{1} << 27;

struct NamedRole {
    std::string_view name;
    TextRole role;
};

constexpr NamedRole kRoles[] = {
    {"attention_mask", TextRole::Mask}, {"input_mask", TextRole::Mask},        {"token_type_ids", TextRole::Types},
    {"segment_ids", TextRole::Types},   {"position_ids", TextRole::Positions},
};

/// A text as an input takes it: padded to a length.
struct PaddedText {
    std::vector<std::int64_t> ids, types, mask, positions;
    std::size_t cutTokens = 0;     ///< that were left out
    std::size_t paddedTokens = 0;  ///< that were added
    Encoding encoding;             ///< without padding
};

const std::vector<std::int64_t>& partOf(const PaddedText& text, TextRole role) {
    switch (role) {
        case TextRole::Mask: return text.mask;
        case TextRole::Types: return text.types;
        case TextRole::Positions: return text.positions;
        case TextRole::Ids: break;
    }
    return text.ids;
}

Result<PaddedText> padded(const Tokenizer& tokenizer, std::string_view text, const TokenizerPart& part,
                          std::optional<std::size_t> length) {
    PaddedText made;
    SONDE_ASSIGN(made.encoding, tokenizer.encode(text, !part.isPlain));
    if (length && made.encoding.ids.size() > *length) {
        made.cutTokens = made.encoding.ids.size() - *length;
        SONDE_ASSIGN(made.encoding, tokenizer.encode(text, !part.isPlain, length));
    }
    made.ids = made.encoding.ids;
    made.types = made.encoding.types;
    made.mask.assign(made.ids.size(), 1);
    for (std::size_t i = 0; i < made.ids.size(); ++i) made.positions.push_back(static_cast<std::int64_t>(i));
    if (!length || made.ids.size() >= *length) return made;
    made.paddedTokens = *length - made.ids.size();
    const TokenPadding& padding = tokenizer.padding();
    const auto extend = [&](std::vector<std::int64_t>& values, std::int64_t with) {
        values.insert(padding.isLeft ? values.begin() : values.end(), made.paddedTokens, with);
    };
    extend(made.ids, padding.id);
    extend(made.types, padding.type);
    extend(made.mask, 0);
    extend(made.positions, 0);
    return made;
}

/// "7592 hello", "995 ' world'".
std::string listed(const Tokenizer& tokenizer, std::int64_t id) {
    const std::string token = tokenizer.tokenText(id);
    const bool hasBlanks = token.empty() || token.front() == ' ' || token.back() == ' ';
    return std::to_string(id) + ' ' + (hasBlanks ? "'" + token + "'" : token);
}

std::string listOfTokens(const Tokenizer& tokenizer, const std::vector<std::int64_t>& ids) {
    std::string text;
    for (std::size_t i = 0; i < std::min(ids.size(), kListedTokens); ++i)
        text += (i ? " \xc2\xb7 " : "") + listed(tokenizer, ids[i]);
    return ids.size() > kListedTokens ? text + " \xe2\x80\xa6" : text;
}

std::string tokenCount(std::size_t count) {
    return base::countText(static_cast<std::int64_t>(count)) + (count == 1 ? " token" : " tokens");
}

std::string noteOf(const Tokenizer& tokenizer, const PaddedText& text, const InputInfo& input, std::int64_t rows) {
    if (textRoleOf(input.name) != TextRole::Ids) {
        std::string note = input.name + " is that of the text: " + tokenCount(text.encoding.ids.size());
        if (text.paddedTokens > 0) note += ", " + std::to_string(text.paddedTokens) + " of padding";
        return note;
    }
    std::string note = tokenCount(text.encoding.ids.size()) + " (" + tokenizer.description() + ")";
    if (!text.encoding.ids.empty()) note += ": " + listOfTokens(tokenizer, text.encoding.ids);
    const TokenPadding& padding = tokenizer.padding();
    if (text.paddedTokens > 0)
        note += "; padded to " + std::to_string(text.ids.size()) + " with " + std::to_string(padding.id) + ' ' +
                (padding.token.empty() ? "(the tokenizer has no padding token)" : padding.token);
    if (text.cutTokens > 0)
        note += "; cut to " + std::to_string(text.ids.size()) + ": " + tokenCount(text.cutTokens) + " left out";
    if (text.encoding.unknownCount > 0) note += "; " + std::to_string(text.encoding.unknownCount) + " unknown";
    if (text.encoding.droppedCount > 0)
        note += "; characters without a token left out: " + std::to_string(text.encoding.droppedCount);
    if (rows > 1) note += "; the same text in each of " + std::to_string(rows) + " rows";
    return note;
}

/// How an input takes ids: [S], or [N,S].
struct IdLayout {
    std::size_t rank = 2;
    std::int64_t rows = 1;
    std::optional<std::size_t> length;
};

Result<IdLayout> idLayoutOf(const InputInfo& input) {
    IdLayout layout;
    const auto& shape = input.type.shape;
    // A mask is of floats or bools, too.
    const bool isMask = textRoleOf(input.name) == TextRole::Mask && input.type.dtype != DType::String &&
                        (!shape || shape->size() == 1 || shape->size() == 2);
    if (!takesText(input.type) && !isMask)
        return usageError("input '" + input.name + "' expects " + input.type.text() + ", which no text gives", {},
                          "a text gives integers of shape [tokens] or [batch,tokens]");
    if (!shape) return layout;
    layout.rank = shape->size();
    if (shape->size() == 2 && shape->front().known()) layout.rows = shape->front().value;
    if (shape->back().known()) layout.length = static_cast<std::size_t>(std::max<std::int64_t>(shape->back().value, 0));
    return layout;
}

Result<Tensor> readTextFile(const DataFile& file, const InputInfo& input, const ImageOptions&, std::string& note) {
    const auto bytes = file.file->bytes();
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text = base::withoutByteOrderMark(text);
    // The end of the last line is no part of a text: editors add it.
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    auto made = textTensor(text, file.part, input, note);
    if (!made && made.error().where.empty()) return std::move(made).error().at(file.path);
    return made;
}

}  // namespace

TextRole textRoleOf(std::string_view inputName) {
    // "attention_mask:0" of TensorFlow, "bert/attention_mask", "attention_mask_1" of fx.
    std::string_view name = inputName.substr(0, inputName.find(':'));
    name.remove_prefix(std::min(name.size(), name.find_last_of("/.") + 1));
    const std::size_t number = name.find_last_not_of("0123456789");
    if (number != std::string_view::npos && number + 1 < name.size() && name[number] == '_')
        name = name.substr(0, number);
    const auto* const found = std::ranges::find(kRoles, name, &NamedRole::name);
    return found == std::end(kRoles) ? TextRole::Ids : found->role;
}

bool givesText(std::string_view item) {
    if (isTextItem(item)) return true;
    const auto [path, part] = splitDataItem(item);
    const DataFileKind* const kind = part.empty() ? nullptr : partedFileKindOf(path);
    return kind && kind->needsPart;
}

bool takesText(const tensor::TypeInfo& type) {
    const bool isInteger = type.dtype == DType::Undefined || tensor::isInteger(type.dtype);
    const bool isList = !type.shape || type.shape->size() == 1 || type.shape->size() == 2;
    return isInteger && isList && (!type.kind || type.isTensor());
}

std::string tokenizerBeside(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    for (const char* const name : {"tokenizer.json", "vocab.txt"})
        if (std::filesystem::is_regular_file(folder / name, ignored)) return (folder / name).string();
    return {};
}

base::Result<Tensor> textTensor(std::string_view text, std::string_view part, const InputInfo& input,
                                std::string& note) {
    SONDE_ASSIGN(const TokenizerPart how, parseTokenizerPart(part));
    SONDE_ASSIGN(const IdLayout layout, idLayoutOf(input));
    SONDE_ASSIGN(const auto tokenizer, openTokenizer(how.path, how.choice));
    const std::optional<std::size_t> wanted = how.length ? how.length : layout.length;
    if (wanted && *wanted > static_cast<std::size_t>(kMaxIds))
        return usageError("input '" + input.name + "' takes " + base::countText(static_cast<std::int64_t>(*wanted)) +
                          " tokens, and a text gives " + base::countText(kMaxIds) + " at most");
    SONDE_ASSIGN(const PaddedText made, padded(*tokenizer, text, how, wanted));
    const std::vector<std::int64_t>& row = partOf(made, textRoleOf(input.name));
    const auto length = static_cast<std::int64_t>(row.size());
    if (row.empty()) return usageError("the text is empty", "input '" + input.name + "'");
    if (layout.rows < 1 || layout.rows > kMaxIds / length)
        return usageError("input '" + input.name + "' takes " + base::countText(layout.rows) + " texts at once");
    note = noteOf(*tokenizer, made, input, layout.rows);
    if (layout.rank == 1) return Tensor::of<std::int64_t>(Shape{length}, row);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < layout.rows; ++i) rows.insert(rows.end(), row.begin(), row.end());
    return Tensor::of<std::int64_t>(Shape{layout.rows, length}, rows);
}

base::Result<Tensor> textItemTensor(std::string_view item, const InputInfo& input, std::string& note) {
    SONDE_ASSIGN(const TextItem typed, parseTextItem(item));
    return textTensor(typed.text, typed.part, input, note);
}

std::optional<std::size_t> inputOfText(const std::vector<InputInfo>& inputs) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (textRoleOf(inputs[i].name) != TextRole::Ids) continue;
        if (found) return std::nullopt;
        found = i;
    }
    return found;
}

std::vector<std::size_t> fillFromText(std::vector<std::string>& items, const std::vector<InputInfo>& inputs) {
    std::optional<std::size_t> text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].empty() || textRoleOf(inputs[i].name) != TextRole::Ids || !givesText(items[i])) continue;
        if (text) return {};  // of an encoder and a decoder: which one is not known
        text = i;
    }
    std::vector<std::size_t> filled;
    if (!text) return filled;
    // What goes with the text has its length, also where only the input for ids declares one.
    std::string item = items[*text];
    const auto& shape = inputs[*text].type.shape;
    const auto typed = parseTextItem(item);
    const auto how = parseTokenizerPart(typed ? typed->part : splitDataItem(item).second);
    if (how && !how->length && shape && !shape->empty() && shape->back().known() && shape->back().value > 0)
        item += ',' + std::to_string(shape->back().value);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].empty() || textRoleOf(inputs[i].name) == TextRole::Ids) continue;
        items[i] = item;
        filled.push_back(i);
    }
    return filled;
}

DataFileKind textKind() {
    DataFileKind kind;
    kind.name = "text";
    kind.formats = ".txt#tokenizer.json";
    kind.suffixes = {".txt"};
    kind.takesPart = true;
    kind.needsPart = true;
    kind.isBegunBy = nullptr;
    kind.read = readTextFile;
    return kind;
}

}  // namespace sonde::io
