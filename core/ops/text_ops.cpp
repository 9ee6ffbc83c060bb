// Operators on text. https://onnx.ai/onnx/operators/ (StringConcat, StringSplit, StringNormalizer, RegexFullMatch,
// TfIdfVectorizer).

#include <algorithm>
#include <set>

#include "core/base/unicode.h"
#include "core/ops/support/regex.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using Texts = std::vector<std::string>;

Texts textsOf(const Tensor& tensor) {
    const auto strings = tensor.strings();
    return {strings.begin(), strings.end()};
}

base::Result<void> concatTexts(KernelContext& context) {
    SONDE_ASSIGN(const Shape shape, broadcast(context.in("X").shape(), context.in("Y").shape()));
    SONDE_ASSIGN(const Tensor a, context.in("X").expanded(shape));
    SONDE_ASSIGN(const Tensor b, context.in("Y").expanded(shape));
    const auto all = [](const Tensor& part) { return part.storage()->strings().data() + part.offsetElements(); };
    Texts result(static_cast<std::size_t>(a.numel()));
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        result[static_cast<std::size_t>(i)] = all(a)[a.elementOffset(i)] + all(b)[b.elementOffset(i)];
    }
    context.setOutput(Value(Tensor::ofStrings(shape, std::move(result))));
    return {};
}

/// Where the first code point begins, from `at` on, that is white space or is none; the end if there is no such.
std::size_t findSpace(std::string_view text, std::size_t at, bool isSpace) {
    while (at < text.size()) {
        const base::CodePoint first = base::firstCodePoint(text.substr(at));
        if (base::isSpace(first.value) == isSpace) break;
        at += first.bytes;
    }
    return at;
}

/// Runs of white space separate if there is no delimiter; at most `most` cuts if that is not negative.
Texts splitAtSpaces(const std::string& text, std::int64_t most) {
    Texts parts;
    for (std::size_t at = findSpace(text, 0, false); at < text.size();) {
        std::size_t end = findSpace(text, at, true), next = findSpace(text, end, false);
        // The last part is all that is left but for the white space at its end.
        const bool isLast = most >= 0 && static_cast<std::int64_t>(parts.size()) == most;
        while (isLast && next < text.size()) {
            end = findSpace(text, next, true);
            next = findSpace(text, end, false);
        }
        parts.push_back(text.substr(at, end - at));
        at = next;
    }
    return parts;
}

Texts splitAt(const std::string& text, const std::string& delimiter, std::int64_t most) {
    Texts parts;
    std::size_t at = 0;
    while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
        const std::size_t end = text.find(delimiter, at);
        if (end == std::string::npos) break;
        parts.push_back(text.substr(at, end - at));
        at = end + delimiter.size();
    }
    parts.push_back(text.substr(at));
    return parts;
}

/// Y has one more dimension, as long as the longest list of parts; shorter ones are filled up with empty text.
base::Result<void> split(KernelContext& context) {
    const Tensor& x = context.in("X");
    const std::string delimiter = context.attributes().getString("delimiter", "");
    const std::int64_t most = context.attributes().getInt("maxsplit", -1);
    std::vector<Texts> all;
    std::size_t longest = 0;
    for (const std::string& text : x.strings()) {
        all.push_back(delimiter.empty() ? splitAtSpaces(text, most) : splitAt(text, delimiter, most));
        longest = std::max(longest, all.back().size());
    }
    if (longest > 0 && all.size() > (std::size_t{1} << 28) / longest) return opError("would produce too many parts");
    Texts flat;
    flat.reserve(all.size() * longest);
    std::vector<std::int64_t> counts;
    for (Texts& parts : all) {
        counts.push_back(static_cast<std::int64_t>(parts.size()));
        parts.resize(longest);
        flat.insert(flat.end(), parts.begin(), parts.end());
    }
    Shape shape = x.shape();
    shape.push_back(static_cast<std::int64_t>(longest));
    context.setOutput(Value(Tensor::ofStrings(shape, std::move(flat))));
    if (context.wants("Z")) context.setOutput("Z", Value(Tensor::of<std::int64_t>(x.shape(), counts)));
    return {};
}

base::CaseRules rulesOf(std::string_view locale) {
    const std::string_view language = locale.substr(0, locale.find_first_of("_-.@"));
    return language == "tr" || language == "az" ? base::CaseRules::Turkic : base::CaseRules::Common;
}

/// Takes out stop words and changes case, code point by code point as ONNX Runtime does; the result has at least one
/// (empty) text.
base::Result<void> normalize(KernelContext& context) {
    const Tensor& x = context.in("X");
    if (x.rank() < 1 || x.rank() > 2 || (x.rank() == 2 && x.dim(0) != 1)) {
        return opError("needs text of shape [C] or [1,C], not " + x.shape().text());
    }
    const std::string action = context.attributes().getString("case_change_action", "NONE");
    if (action != "NONE" && action != "LOWER" && action != "UPPER")
        return opError("case_change_action '" + action + "' is not supported");
    const bool sensitive = context.attributes().getInt("is_case_sensitive", 0) != 0;
    const base::CaseRules rules = rulesOf(context.attributes().getString("locale", ""));
    const auto changed = [&](const std::string& text) {
        return action == "UPPER" ? base::upperCase(text, rules) : base::lowerCase(text, rules);
    };
    std::set<std::string> stopWords;
    for (const std::string& word : context.attributes().getStrings("stopwords"))
        stopWords.insert(sensitive ? word : changed(word));
    Texts result;
    for (const std::string& text : x.strings()) {
        if (stopWords.contains(sensitive ? text : changed(text))) continue;
        result.push_back(action == "NONE" ? text : changed(text));
    }
    if (result.empty()) result.emplace_back();
    const auto count = static_cast<std::int64_t>(result.size());
    context.setOutput(Value(Tensor::ofStrings(x.rank() == 1 ? Shape{count} : Shape{1, count}, std::move(result))));
    return {};
}

base::Result<void> regexFullMatch(KernelContext& context) {
    SONDE_ASSIGN(const Regex regex, Regex::parse(context.attributes().getString("pattern", "")));
    SONDE_ASSIGN(Tensor result, context.output(DType::Bool, context.in("X").shape()));
    std::uint8_t* match = result.mutableData<std::uint8_t>();
    for (const std::string& text : context.in("X").strings()) {
        if (context.cancelled()) return base::cancelled("RegexFullMatch");
        if (text.size() > regex.maxTextSize()) {
            return opError("a text of " + std::to_string(text.size()) +
                           " bytes is too long for this pattern: at most " + std::to_string(regex.maxTextSize()));
        }
        *match++ = regex.matchesAll(text) ? 1 : 0;
    }
    return {};
}

/// The n-grams of TfIdfVectorizer as a flat pool cut by ngram_counts into those of length 1, 2, …
template <typename Token>
struct NGrams {
    std::vector<std::pair<std::vector<Token>, std::size_t>> grams;  ///< tokens, place in ngram_indexes
};

template <typename Token>
base::Result<NGrams<Token>> ngramsOf(const std::vector<Token>& pool, const std::vector<std::int64_t>& counts,
                                     std::int64_t shortest, std::int64_t longest) {
    NGrams<Token> result;
    std::size_t number = 0;
    for (std::size_t n = 1; n <= counts.size(); ++n) {
        const std::int64_t begin = counts[n - 1];
        const std::int64_t end = n < counts.size() ? counts[n] : static_cast<std::int64_t>(pool.size());
        if (begin < 0 || end < begin || end > static_cast<std::int64_t>(pool.size()) ||
            (end - begin) % static_cast<std::int64_t>(n) != 0) {
            return opError("ngram_counts do not match the pool");
        }
        for (std::int64_t at = begin; at < end; at += static_cast<std::int64_t>(n), ++number) {
            if (static_cast<std::int64_t>(n) < shortest || static_cast<std::int64_t>(n) > longest) continue;
            result.grams.emplace_back(
                std::vector<Token>(pool.begin() + at, pool.begin() + at + static_cast<std::ptrdiff_t>(n)), number);
        }
    }
    return result;
}

/// How often an n-gram occurs in a row, its tokens `skip` + 1 apart, for every skip up to the largest.
template <typename Token>
double occurrences(const std::vector<Token>& row, const std::vector<Token>& gram, std::int64_t maxSkip) {
    double count = 0;
    const auto length = static_cast<std::int64_t>(row.size());
    const auto n = static_cast<std::int64_t>(gram.size());
    for (std::int64_t skip = 0; skip <= (n == 1 ? 0 : std::min(maxSkip, length)); ++skip) {
        for (std::int64_t start = 0; start + (n - 1) * (skip + 1) < length; ++start) {
            bool same = true;
            for (std::int64_t i = 0; same && i < n; ++i) {
                same = row[static_cast<std::size_t>(start + i * (skip + 1))] == gram[static_cast<std::size_t>(i)];
            }
            count += same ? 1 : 0;
        }
    }
    return count;
}

template <typename Token>
base::Result<void> vectorize(KernelContext& context, const std::vector<Token>& tokens, const std::vector<Token>& pool) {
    const Attributes& attributes = context.attributes();
    const auto indexes = attributes.getInts("ngram_indexes");
    const auto weights = attributes.getFloats("weights");
    const std::string mode = attributes.getString("mode", "TF");
    SONDE_ASSIGN(const auto grams,
                 ngramsOf(pool, attributes.getInts("ngram_counts"), attributes.getInt("min_gram_length", 1),
                          attributes.getInt("max_gram_length", 1)));
    std::int64_t width = 0;
    for (std::int64_t index : indexes) {
        if (index < 0 || index > (std::int64_t{1} << 24))
            return opError("invalid ngram index " + std::to_string(index));
        width = std::max(width, index + 1);
    }
    const Tensor& x = context.in("X");
    if (x.rank() < 1 || x.rank() > 2) return opError("needs shape [C] or [N,C], not " + x.shape().text());
    const std::int64_t rows = x.rank() == 2 ? x.dim(0) : 1;
    const std::int64_t length = x.dim(x.rank() - 1);
    SONDE_ASSIGN(Tensor y, context.output(DType::Float32, x.rank() == 2 ? Shape{rows, width} : Shape{width}));
    std::fill_n(y.mutableData<float>(), y.numel(), 0.0F);
    for (std::int64_t r = 0; r < rows; ++r) {
        if (context.cancelled()) return base::cancelled("TfIdfVectorizer");
        const std::vector<Token> row(tokens.begin() + r * length, tokens.begin() + (r + 1) * length);
        for (const auto& [gram, number] : grams.grams) {
            if (number >= indexes.size()) return opError("there are more n-grams than ngram_indexes");
            const double count = occurrences(row, gram, attributes.getInt("max_skip_count", 0));
            const double weight = number < weights.size() ? weights[number] : 1.0;
            const double value = mode == "TF" ? count : (mode == "IDF" ? (count > 0 ? weight : 0.0) : count * weight);
            y.mutableData<float>()[r * width + indexes[number]] += static_cast<float>(value);
        }
    }
    return {};
}

base::Result<void> tfIdf(KernelContext& context) {
    const Tensor& x = context.in("X");
    if (x.dtype() == DType::String)
        return vectorize<std::string>(context, textsOf(x), context.attributes().getStrings("pool_strings"));
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < x.numel(); ++i) tokens.push_back(x.toInt64(i));
    return vectorize<std::int64_t>(context, tokens, context.attributes().getInts("pool_int64s"));
}

/// Stop words leave fewer texts behind, at least one.
base::Result<void> inferNormalized(InferContext& context) {
    const auto& dims = context.in("X").shape;
    const bool kept =
        context.attributes().getStrings("stopwords").empty() && dims && !dims->empty() && dims->back().value > 0;
    context.set(TypeInfo::tensor(DType::String, kept   ? dims
                                                : dims ? std::optional(unknownDims(dims->size()))
                                                       : std::nullopt));
    return {};
}

base::Result<void> inferStringSplit(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    context.set("Z", TypeInfo::tensor(DType::Int64, dims));
    if (dims) dims->emplace_back();
    context.set(TypeInfo::tensor(DType::String, std::move(dims)));
    return {};
}

/// The last axis becomes the largest place of an n-gram and one.
base::Result<void> inferCounts(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    const std::vector<std::int64_t> places = context.attributes().getInts("ngram_indexes");
    const std::int64_t largest = places.empty() ? -1 : *std::ranges::max_element(places);
    if (dims && !dims->empty())
        dims->back() = largest < 0 || largest > std::int64_t{1} << 24 ? Dim{} : Dim::of(largest + 1);
    else dims.reset();
    context.set(TypeInfo::tensor(DType::Float32, std::move(dims)));
    return {};
}

base::Result<void> inferMatches(InferContext& context) {
    TypeInfo type = context.in("X");
    type.dtype = DType::Bool;
    context.set(type);
    return {};
}

}  // namespace

void define_text_ops(Registry& registry) {
    registry.add(Row("StringConcat", 20, "Texts of two tensors joined, with broadcasting", Category::Sequence)
                     .in("X", kString)
                     .in("Y", kString)
                     .out("Z")
                     .runs(concatTexts, inferBroadcast));
    registry.add(Row("StringSplit", 20, "Each text cut at a delimiter, or at white space", Category::Sequence)
                     .in("X", kString)
                     .out("Y")
                     .out("Z")
                     .attr("delimiter", AttributeKind::String)
                     .attr("maxsplit", AttributeKind::Int)
                     .runs(split, inferStringSplit));
    registry.add(Row("StringNormalizer", 10, "Texts without stop words, in upper or lower case", Category::Sequence)
                     .in("X", kString)
                     .out("Y")
                     .attrString("case_change_action", "NONE")
                     .attrInt("is_case_sensitive", 0)
                     .attr("locale", AttributeKind::String)
                     .attr("stopwords", AttributeKind::Strings)
                     .runs(normalize, inferNormalized));
    registry.add(Row("RegexFullMatch", 20, "Whether a whole string matches a regular expression", Category::Sequence)
                     .in("X", kString)
                     .out("Y")
                     .attrString("pattern", "")
                     .runs(regexFullMatch, inferMatches));
    registry.add(Row("TfIdfVectorizer", 9, "Counts or weights of n-grams in rows of tokens", Category::Sequence)
                     .in("X", kString | kIndex)
                     .out("Y")
                     .required("max_gram_length", AttributeKind::Int)
                     .required("max_skip_count", AttributeKind::Int)
                     .required("min_gram_length", AttributeKind::Int)
                     .required("mode", AttributeKind::String)
                     .attrInts("ngram_counts")
                     .attrInts("ngram_indexes")
                     .attrInts("pool_int64s")
                     .attr("pool_strings", AttributeKind::Strings)
                     .attr("weights", AttributeKind::Floats)
                     .runs(tfIdf, inferCounts));
}

}  // namespace sonde::ops
