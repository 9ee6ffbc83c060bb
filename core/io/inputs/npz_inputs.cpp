#include "core/io/inputs/npz_inputs.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/io/inputs/agreement.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::Tensor;
using tensor::TypeInfo;

constexpr std::string_view kIn = "in.";

/// "case12." at the start of a key; empty if it begins otherwise.
std::string_view casePrefixOf(std::string_view key) {
    if (!key.starts_with("case")) return {};
    const std::size_t end = key.find_first_not_of("0123456789", 4);
    return end != std::string_view::npos && end > 4 && key[end] == '.' ? key.substr(0, end + 1) : std::string_view();
}

/// What a key without its case names, if that may be an input.
bool mayBeInput(std::string_view rest) {
    constexpr std::array<std::string_view, 3> kOthers{"out.", "node.", "seq."};
    return !rest.empty() &&
           std::ranges::none_of(kOthers, [&](std::string_view other) { return rest.starts_with(other); });
}

/// x.shape beside x, or beside x.stats: says something of an array, and is not one.
bool isSummary(const NpzFile& file, const std::string& key) {
    constexpr std::array<std::string_view, 3> kSuffixes{".shape", ".stats", ".head"};
    for (const std::string_view suffix : kSuffixes) {
        if (!key.ends_with(suffix)) continue;
        const std::string base = key.substr(0, key.size() - suffix.size());
        if (file.has(base)) return true;
        return std::ranges::any_of(
            kSuffixes, [&](std::string_view other) { return other != suffix && file.has(base + std::string(other)); });
    }
    return false;
}

/// The first case may be stored as case0.in.NAME or as in.NAME: "case0" and no name mean it in either form. An archive
/// that has both has two cases.
std::string prefixOf(const NpzFile& file, const std::string& part) {
    constexpr std::string_view kFirst = "case0.";
    if (!part.empty() && part != "case0") return part + '.';
    const bool hasNumbered =
        std::ranges::any_of(file.keys(), [&](const std::string& key) { return key.starts_with(kFirst); });
    const bool hasPlain = std::ranges::any_of(file.keys(), [&](const std::string& key) {
        return casePrefixOf(key).empty() && mayBeInput(key) && !isSummary(file, key);
    });
    return hasNumbered && !(part.empty() && hasPlain) ? std::string(kFirst) : std::string();
}

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t kMaxListed = 16;
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < kMaxListed; ++i) text += (i ? ", " : "") + names[i];
    if (names.size() > kMaxListed) text += " and " + std::to_string(names.size() - kMaxListed) + " more";
    return text.empty() ? "none" : text;
}

/// An array that no input has by name.
struct Left {
    std::string key;
    TypeInfo type;
    bool isIn;
};

bool fitsRank(const Left& array, const InputInfo& input) {
    const TypeInfo& type = input.required && input.required->shape ? *input.required : input.type;
    return !type.shape || input.isGuide || type.shape->size() == array.type.shape->size();
}

/// The only array of those that fits.
const Left* onlyFitting(const std::vector<Left>& arrays, bool isIn, const InputInfo& input) {
    const Left* found = nullptr;
    for (const Left& array : arrays) {
        if (array.isIn != isIn || !fitsRank(array, input) || !isSameClass(array.type.dtype, input.type.dtype)) continue;
        if (found) return nullptr;
        found = &array;
    }
    return found;
}

/// Inputs that the case has two arrays for, where it matters which one is used.
Result<std::vector<std::size_t>> doubledInputs(const NpzFile& file, const std::string& prefix,
                                               const std::vector<InputInfo>& inputs, const std::vector<bool>& isOpen) {
    std::vector<std::size_t> doubled;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!isOpen.empty() && !isOpen[i]) continue;
        const std::string plain = prefix + inputs[i].name, key = prefix + std::string(kIn) + inputs[i].name;
        if (!file.has(plain) || !file.has(key)) continue;
        SONDE_ASSIGN(const TypeInfo type, file.type(key));
        if (contradiction(inputs[i], type)) continue;  // which is told of the one that is used
        SONDE_ASSIGN(const Tensor one, file.read(key));
        SONDE_ASSIGN(const Tensor other, file.read(plain));
        if (!tensor::identical(one, other)) doubled.push_back(i);
    }
    return doubled;
}

Result<std::vector<Left>> arraysLeft(const NpzFile& file, const std::string& prefix,
                                     const std::vector<InputInfo>& inputs, const HasDefault& hasDefault,
                                     ArrayMatch& match) {
    std::set<std::string_view> taken(match.keys.begin(), match.keys.end());
    for (const InputInfo& input : inputs) {
        // Both forms of a name that is known mean that input.
        for (const std::string& key : file.keys()) {
            if (key == prefix + std::string(kIn) + input.name || key == prefix + input.name) taken.insert(key);
        }
    }
    std::vector<Left> left;
    for (const std::string& key : file.keys()) {
        if (taken.contains(key) || !key.starts_with(prefix) || (prefix.empty() && !casePrefixOf(key).empty())) continue;
        const std::string_view rest = std::string_view(key).substr(prefix.size());
        if (!mayBeInput(rest) || isSummary(file, key)) continue;
        const bool isIn = rest.starts_with(kIn);
        if (hasDefault && hasDefault(std::string(isIn ? rest.substr(kIn.size()) : rest))) {
            match.defaulted.push_back(key);
            continue;
        }
        SONDE_ASSIGN(TypeInfo type, file.type(key));
        left.push_back({key, std::move(type), isIn});
    }
    return left;
}

}  // namespace

std::pair<std::string, std::string> splitArchiveItem(std::string_view item) {
    const std::size_t hash = item.ends_with(".npz") ? std::string_view::npos : item.rfind('#');
    if (hash == std::string_view::npos) return {std::string(item), {}};
    return {std::string(item.substr(0, hash)), std::string(item.substr(hash + 1))};
}

namespace {

std::string useText(const std::string& key, const InputInfo& input) {
    return "array '" + key + "' is used for input '" + input.name + "'";
}

}  // namespace

std::string conversionNote(const std::string& key, tensor::DType given, const InputInfo& input) {
    const tensor::DType wanted = input.type.dtype;
    const bool isTensor = !input.type.kind || input.type.isTensor();
    if (!isTensor || wanted == tensor::DType::Undefined || wanted == given) return {};
    return useText(key, input) + ", converted from " + std::string(tensor::name(given)) + " to " +
           std::string(tensor::name(wanted));
}

std::vector<std::string> ArrayMatch::notes(const std::vector<InputInfo>& inputs) const {
    std::vector<std::string> result;
    if (guessed) {
        const std::string converted = conversionNote(keys[*guessed], guessedType, inputs[*guessed]);
        result.push_back(converted.empty() ? useText(keys[*guessed], inputs[*guessed]) : converted);
    }
    for (const std::size_t input : doubled) {
        const std::string& key = keys[input];
        result.push_back("array '" + key + "' is used for input '" + inputs[input].name + "', not '" +
                         key.substr(0, key.size() - inputs[input].name.size() - kIn.size()) + inputs[input].name +
                         "', which has different values");
    }
    for (const std::string& key : unused)
        result.push_back("array '" + key + "' is not used: the model has no input of that name");
    for (const std::string& key : defaulted)
        result.push_back("array '" + key + "' is not used: the model has its own value for that input");
    return result;
}

Result<ArrayMatch> matchArrays(const NpzFile& file, const std::string& casePrefix, const std::vector<InputInfo>& inputs,
                               const std::vector<bool>& isOpen, const HasDefault& hasDefault) {
    ArrayMatch match;
    std::optional<std::size_t> lacking;
    std::size_t lackingCount = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string plain = casePrefix + inputs[i].name, key = casePrefix + std::string(kIn) + inputs[i].name;
        match.keys.push_back(file.has(key) ? key : file.has(plain) ? plain : std::string());
        if (!match.keys.back().empty() || (!isOpen.empty() && !isOpen[i])) continue;
        lacking = i;
        ++lackingCount;
    }
    SONDE_ASSIGN(const std::vector<Left> left, arraysLeft(file, casePrefix, inputs, hasDefault, match));
    SONDE_ASSIGN(match.doubled, doubledInputs(file, casePrefix, inputs, isOpen));
    const bool anyIn = std::ranges::any_of(left, &Left::isIn);
    const Left* const found = lackingCount == 1 ? onlyFitting(left, anyIn, inputs[*lacking]) : nullptr;
    if (found) {
        match.guessed = lacking;
        match.guessedType = found->type.dtype;
        match.keys[*lacking] = found->key;
    }
    for (const Left& array : left) {
        if (&array == found) continue;
        match.left.push_back(array.key + " " + array.type.text());
        if (array.isIn) match.unused.push_back(array.key);
    }
    return match;
}

base::Error missingArray(const ArrayMatch& match, const std::string& casePrefix, const std::vector<InputInfo>& inputs,
                         const std::vector<bool>& isOpen, const NpzFile& file, const std::string& where) {
    std::vector<std::string> lacking, names;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!match.keys[i].empty() || (!isOpen.empty() && !isOpen[i])) continue;
        lacking.push_back(inputs[i].name + " " + inputs[i].type.text());
        names.push_back(inputs[i].name);
    }
    std::string what = "the file has no array for input '" + (names.empty() ? std::string() : names.front()) + "'";
    if (!names.empty())
        what += " (expected key '" + casePrefix + "in." + names.front() + "' or '" + casePrefix + names.front() + "')";
    std::string hint =
        "inputs without an array: " + listed(lacking) + "; arrays without an input: " + listed(match.left);
    std::set<std::string> cases;
    for (const std::string& key : file.keys()) {
        if (const std::string_view prefix = casePrefixOf(key); !prefix.empty() && prefix != casePrefix)
            cases.emplace(prefix.substr(0, prefix.size() - 1));
    }
    if (!cases.empty())
        hint += "; the file also has " + listed({cases.begin(), cases.end()}) + ": FILE.npz#" + *cases.begin();
    else if (!match.left.empty()) hint += "; FILE.npz#KEY chooses an array for one input";
    return usageError(std::move(what), where, std::move(hint));
}

namespace {

/// The key of the array that "file.npz#part" chooses; empty: none.
std::string arrayKey(const NpzFile& file, const std::string& part) {
    if (part.empty()) return {};
    const std::string key = std::string(kIn) + part;
    return file.has(part) ? part : file.has(key) ? key : std::string();
}

/// Of a case that is not there is said what it would have to hold.
bool hasCase(const NpzFile& file, const std::string& prefix) {
    return prefix.empty() || casePrefixOf(prefix + ' ') == prefix ||
           std::ranges::any_of(file.keys(), [&](const std::string& key) { return key.starts_with(prefix); });
}

base::Error unknownPart(const NpzFile& file, const std::string& part, std::string_view item) {
    std::set<std::string> cases;
    std::vector<std::string> arrays;
    for (const std::string& key : file.keys()) {
        const std::string_view prefix = casePrefixOf(key);
        if (!prefix.empty()) cases.emplace(prefix.substr(0, prefix.size() - 1));
        else if (mayBeInput(key) && !isSummary(file, key)) arrays.push_back(key);
    }
    return usageError("the file has neither a case nor an array '" + part + "'", std::string(item),
                      "arrays: " + listed(arrays) + "; cases: " + listed({cases.begin(), cases.end()}));
}

}  // namespace

Result<ArchiveFill> fillFromArchive(std::string_view item, const std::vector<InputInfo>& inputs,
                                    const FillOptions& options) {
    const auto [path, part] = splitArchiveItem(item);
    SONDE_ASSIGN(const NpzFile file, NpzFile::open(path));
    ArchiveFill fill;
    fill.items.resize(inputs.size());
    const std::string prefix = prefixOf(file, part);
    const std::optional<std::size_t> only = inputs.size() == 1 ? std::optional<std::size_t>(0) : options.target;
    if (!hasCase(file, prefix)) {
        if (arrayKey(file, part).empty()) return unknownPart(file, part, item);
        if (!only)
            return usageError("'" + part + "' is one array, and the model has several inputs", std::string(item),
                              "choose the input: NAME:" + std::string(item));
        fill.items[*only] = item;
        return fill;
    }
    std::vector<bool> isOpen = options.isOpen;
    if (options.target) {
        isOpen.resize(inputs.size(), true);
        isOpen[*options.target] = true;
    }
    SONDE_ASSIGN(ArrayMatch match, matchArrays(file, prefix, inputs, isOpen, options.hasDefault));
    if (options.target && match.keys[*options.target].empty()) {
        // It was said which input is meant: the others may get theirs from elsewhere.
        std::vector<bool> isTarget(inputs.size(), false);
        isTarget[*options.target] = true;
        SONDE_ASSIGN(ArrayMatch alone, matchArrays(file, prefix, inputs, isTarget, options.hasDefault));
        if (!alone.keys[*options.target].empty()) match = std::move(alone);
    }
    fill.caseName = part;
    fill.notes = match.notes(inputs);
    bool isMissing = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool isWanted = isOpen.empty() || isOpen[i];
        isMissing = isMissing || (isWanted && match.keys[i].empty());
        if (match.keys[i].empty()) continue;
        // An array of another name is told by its key, as one input alone would not find it among those of the others.
        fill.items[i] = match.guessed == i && inputs.size() > 1 ? path + '#' + match.keys[i] : std::string(item);
    }
    if (!isMissing) return fill;
    const bool isOthers = options.target && !match.keys[*options.target].empty();
    (isOthers ? fill.lacking : fill.refused) = missingArray(match, prefix, inputs, isOpen, file, std::string(item));
    return fill;
}

Result<tensor::Value> archiveValue(std::string_view item, const InputInfo& input, const HasDefault& hasDefault,
                                   std::string& note) {
    const auto [path, part] = splitArchiveItem(item);
    SONDE_ASSIGN(const NpzFile file, NpzFile::open(path));
    const std::string prefix = prefixOf(file, part);
    const bool isNamed = file.has(prefix + std::string(kIn) + input.name) || file.has(prefix + input.name);
    std::string key = arrayKey(file, part);
    if (isNamed || key.empty()) {
        if (!hasCase(file, prefix)) return unknownPart(file, part, item);
        const std::vector<InputInfo> inputs{input};
        SONDE_ASSIGN(const ArrayMatch match, matchArrays(file, prefix, inputs, {}, hasDefault));
        if (match.keys.front().empty()) return missingArray(match, prefix, inputs, {}, file, std::string(item));
        key = match.keys.front();
        if (match.guessed || !match.doubled.empty()) note = match.notes(inputs).front();
    }
    const std::string where = path + ", array '" + key + "'";
    // Before the data is there, which may be far larger than the file.
    SONDE_ASSIGN(const TypeInfo type, file.type(key));
    if (auto error = misfit(input, type)) return error->at(where);
    SONDE_ASSIGN(Tensor tensor, file.read(key));
    const std::string converted = conversionNote(key, tensor.dtype(), input);
    if (note.find(converted) == std::string::npos) note += (note.empty() ? "" : "; ") + converted;
    return fitted(std::move(tensor), input, where);
}

}  // namespace sonde::io
