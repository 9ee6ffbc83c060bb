// Maps and categories, domain ai.onnx.ml. https://onnx.ai/onnx/operators/ (ZipMap, CastMap, DictVectorizer,
// FeatureVectorizer, CategoryMapper). A map of ONNX is a dict of plain values: keys int or string, values int, float or
// string.

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/base/number_text.h"
#include "core/ops/support/ml_row.h"
#include "core/ops/support/scores.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// One dict for each row: class → score.
base::Result<void> zipMap(KernelContext& context) {
    SONDE_ASSIGN(const ClassLabels labels, ClassLabels::of(context.attributes(), "classlabels_int64s"));
    SONDE_ASSIGN(const FeatureTable table, featureTable(context.in("X")));
    if (static_cast<std::size_t>(table.columns) != labels.size())
        return opError(std::to_string(labels.size()) + " classes for " + std::to_string(table.columns) + " scores");
    tensor::ValueList rows;
    for (std::int64_t r = 0; r < table.rows; ++r) {
        tensor::ValueDict map;
        for (std::size_t k = 0; k < labels.size(); ++k) {
            Value key = labels.texts.empty() ? Value::ofInt(labels.numbers[k]) : Value(labels.texts[k]);
            map.emplace_back(std::move(key), Value::ofFloat(context.in("X").toDouble(r * table.columns +
                                                                                     static_cast<std::int64_t>(k))));
        }
        rows.push_back(Value::dict(std::move(map)));
    }
    context.setOutput(Value::sequence(std::move(rows)));
    return {};
}

base::Result<void> inferZipMap(InferContext& context) {
    TypeInfo map, sequence;
    map.kind = ValueKind::Dict;
    map.elements.resize(2);
    map.elements[0].kind =
        context.attributes().getStrings("classlabels_strings").empty() ? ValueKind::Int : ValueKind::String;
    map.elements[1] = TypeInfo::tensor(DType::Float32, Dims{});
    sequence.kind = ValueKind::Sequence;
    sequence.elements = {map};
    context.set(sequence);
    return {};
}

base::Result<const tensor::ValueDict*> dictOf(const KernelContext& context) {
    if (context.value("X").kind() != ValueKind::Dict)
        return opError("needs a map, not " + context.value("X").typeText());
    return &context.value("X").dictItems();
}

/// What a map holds for a key: a number or a text; a scalar tensor counts as what it holds.
base::Result<std::variant<double, std::string>> plain(const Value& value) {
    using Plain = std::variant<double, std::string>;
    if (value.kind() == ValueKind::String) return Plain(value.toString());
    if (value.isNumber()) return Plain(value.number());
    if (value.isTensor() && value.tensor().numel() == 1) {
        if (value.tensor().dtype() == DType::String) return Plain(value.tensor().strings()[0]);
        return Plain(value.tensor().toDouble(0));
    }
    return opError("a map has " + value.typeText() + " where a number or a text belongs");
}

std::string keyOf(const Value& key) {
    return key.kind() == ValueKind::String ? "s" + key.toString() : "i" + key.text();
}

DType columnType(const tensor::ValueDict& map) {
    if (map.empty()) return DType::Float32;
    const Value& first = map.front().second;
    if (first.isTensor()) return first.tensor().dtype();
    return first.kind() == ValueKind::String ? DType::String
           : first.kind() == ValueKind::Int  ? DType::Int64
                                             : DType::Float32;
}

/// Puts numbers or texts into a tensor of a dtype; text becomes a number only if all of it is one.
base::Result<Tensor> columnsOf(const std::vector<std::variant<double, std::string>>& items, DType dtype,
                               const Shape& shape) {
    if (dtype == DType::String) {
        std::vector<std::string> texts;
        for (const auto& item : items) {
            const double* number = std::get_if<double>(&item);
            texts.push_back(number ? Tensor::scalar<float>(static_cast<float>(*number)).elementText(0)
                                   : std::get<std::string>(item));
        }
        return Tensor::ofStrings(shape, std::move(texts));
    }
    std::vector<double> numbers;
    for (const auto& item : items) {
        double number = 0;
        if (const auto* text = std::get_if<std::string>(&item)) {
            const std::optional<double> parsed = base::parseNumber<double>(*text);
            if (!parsed) return opError("'" + *text + "' is not a number");
            number = *parsed;
        } else {
            number = std::get<double>(item);
        }
        numbers.push_back(number);
    }
    return Tensor::of<double>(shape, numbers).cast(dtype);
}

/// y [V]: what the map holds for each word of the vocabulary, 0 or '' where it holds nothing.
base::Result<void> vectorizeDict(KernelContext& context) {
    SONDE_ASSIGN(const tensor::ValueDict* map, dictOf(context));
    const auto texts = context.attributes().getStrings("string_vocabulary");
    const auto numbers = context.attributes().getInts("int64_vocabulary");
    if (texts.empty() == numbers.empty()) return opError("needs one vocabulary, of texts or of numbers");
    std::unordered_map<std::string, const Value*> found;
    for (const auto& [key, value] : *map) found.emplace(keyOf(key), &value);
    const DType dtype = columnType(*map);
    std::vector<std::variant<double, std::string>> items;
    for (std::size_t i = 0; i < std::max(texts.size(), numbers.size()); ++i) {
        const auto at = found.find(texts.empty() ? "i" + std::to_string(numbers[i]) : "s" + texts[i]);
        if (at == found.end()) {
            items.emplace_back(dtype == DType::String ? std::variant<double, std::string>("")
                                                      : std::variant<double, std::string>(0.0));
            continue;
        }
        SONDE_ASSIGN(auto item, plain(*at->second));
        items.push_back(std::move(item));
    }
    SONDE_ASSIGN(Tensor y, columnsOf(items, dtype, Shape{static_cast<std::int64_t>(items.size())}));
    context.setOutput(Value(std::move(y)));
    return {};
}

/// y [1,C]: the map's values in the order of its keys (DENSE), or each at the column that its key names (SPARSE).
base::Result<void> castMap(KernelContext& context) {
    constexpr std::int64_t kMaxColumns = 1 << 24;
    SONDE_ASSIGN(const tensor::ValueDict* map, dictOf(context));
    const std::string to = context.attributes().getString("cast_to", "TO_FLOAT"),
                      form = context.attributes().getString("map_form", "DENSE");
    const DType dtype = to == "TO_FLOAT" ? DType::Float32 : to == "TO_INT64" ? DType::Int64 : DType::String;
    if (dtype == DType::String && to != "TO_STRING") return opError("cast_to '" + to + "' is not supported");
    if (form != "DENSE" && form != "SPARSE") return opError("map_form '" + form + "' is not supported");
    std::map<std::int64_t, const Value*> sorted;
    for (const auto& [key, value] : *map) {
        if (key.kind() != ValueKind::Int) return opError("needs a map with int64 keys");
        sorted.emplace(key.toInt(), &value);
    }
    const std::int64_t columns =
        form == "DENSE" ? static_cast<std::int64_t>(sorted.size()) : context.attributes().getInt("max_map", 1);
    if (columns < 0 || columns > kMaxColumns) return opError(std::to_string(columns) + " columns");
    const std::variant<double, std::string> nothing =
        dtype == DType::String ? std::variant<double, std::string>("") : std::variant<double, std::string>(0.0);
    std::vector<std::variant<double, std::string>> items(static_cast<std::size_t>(columns), nothing);
    std::int64_t next = 0;
    for (const auto& [key, value] : sorted) {
        const std::int64_t column = form == "DENSE" ? next++ : key;
        if (column < 0) return opError("a key of the map is negative");
        if (column >= columns) continue;
        SONDE_ASSIGN(items[static_cast<std::size_t>(column)], plain(*value));
    }
    SONDE_ASSIGN(Tensor y, columnsOf(items, dtype, Shape{1, columns}));
    context.setOutput(Value(std::move(y)));
    return {};
}

/// The inputs' columns side by side as float32; inputdimensions says how many each gives, missing ones are 0.
base::Result<void> vectorizeFeatures(KernelContext& context) {
    constexpr std::int64_t kMaxColumns = 1 << 24;
    const auto dims = context.attributes().getInts("inputdimensions");
    if (dims.size() != context.inputCount())
        return opError(std::to_string(dims.size()) + " inputdimensions for " + std::to_string(context.inputCount()) +
                       " inputs");
    std::int64_t columns = 0, rows = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        SONDE_ASSIGN(const FeatureTable table, featureTable(context.in(i)));
        if (dims[i] < 0 || (columns += dims[i]) > kMaxColumns)
            return opError("inputdimensions has " + std::to_string(dims[i]));
        if (i > 0 && table.rows != rows)
            return opError("inputs have " + std::to_string(rows) + " and " + std::to_string(table.rows) + " rows");
        rows = table.rows;
    }
    SONDE_ASSIGN(Tensor y, context.output(DType::Float32, Shape{rows, columns}));
    std::fill_n(y.mutableData<float>(), y.numel(), 0.0F);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const Tensor& x = context.in(i);
        const std::int64_t own = x.rank() == 1 ? x.dim(0) : x.dim(1);
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < std::min(own, dims[i]); ++c)
                y.mutableData<float>()[r * columns + first + c] = static_cast<float>(x.toDouble(r * own + c));
        }
        first += dims[i];
    }
    return {};
}

base::Result<void> inferCastMap(InferContext& context) {
    const std::string to = context.attributes().getString("cast_to", "TO_FLOAT");
    const bool isDense = context.attributes().getString("map_form", "DENSE") == "DENSE";
    const std::int64_t columns = isDense ? -1 : context.attributes().getInt("max_map", 1);
    context.set(
        TypeInfo::tensor(to == "TO_FLOAT"   ? DType::Float32
                         : to == "TO_INT64" ? DType::Int64
                                            : DType::String,
                         std::vector<tensor::Dim>{tensor::Dim::of(1), tensor::Dim{columns < 0 ? -1 : columns, {}}}));
    return {};
}

/// The element type is that of the map's values, which only a run knows.
base::Result<void> inferVocabulary(InferContext& context) {
    const std::size_t words = std::max(context.attributes().getStrings("string_vocabulary").size(),
                                       context.attributes().getInts("int64_vocabulary").size());
    context.set(TypeInfo::tensor(DType::Undefined,
                                 std::vector<tensor::Dim>{tensor::Dim::of(static_cast<std::int64_t>(words))}));
    return {};
}

base::Result<void> inferColumns(InferContext& context) {
    std::int64_t columns = 0;
    for (const std::int64_t own : context.attributes().getInts("inputdimensions")) {
        if (own < 0 || columns > (std::int64_t{1} << 40) || own > (std::int64_t{1} << 40))
            return opError("inputdimensions has " + std::to_string(own));
        columns += own;
    }
    setScoreType(context, 0, columns);
    return {};
}

/// Texts to numbers or numbers to texts, by a table of pairs.
base::Result<void> mapCategories(KernelContext& context) {
    const auto texts = context.attributes().getStrings("cats_strings");
    const auto numbers = context.attributes().getInts("cats_int64s");
    if (texts.size() != numbers.size())
        return opError("has " + std::to_string(texts.size()) + " texts for " + std::to_string(numbers.size()) +
                       " numbers");
    const Tensor& x = context.in("X");
    if (x.dtype() == DType::String) {
        std::unordered_map<std::string, std::int64_t> table;
        for (std::size_t i = 0; i < texts.size(); ++i) table.emplace(texts[i], numbers[i]);
        SONDE_ASSIGN(Tensor y, context.output(DType::Int64, x.shape()));
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            const auto found = table.find(x.strings()[static_cast<std::size_t>(i)]);
            y.mutableData<std::int64_t>()[i] =
                found == table.end() ? context.attributes().getInt("default_int64", -1) : found->second;
        }
        return {};
    }
    std::unordered_map<std::int64_t, std::string> table;
    for (std::size_t i = 0; i < texts.size(); ++i) table.emplace(numbers[i], texts[i]);
    std::vector<std::string> made;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        const auto found = table.find(x.toInt64(i));
        made.push_back(found == table.end() ? context.attributes().getString("default_string", "_Unused")
                                            : found->second);
    }
    context.setOutput(Value(Tensor::ofStrings(x.shape(), std::move(made))));
    return {};
}

base::Result<void> inferCategories(InferContext& context) {
    TypeInfo type = context.in("X");
    if (type.dtype == DType::Undefined) return {};
    type.dtype = type.dtype == DType::String ? DType::Int64 : DType::String;
    context.set(std::move(type));
    return {};
}

}  // namespace

void define_ml_maps(Registry& registry) {
    registry.add(mlRow("ZipMap", "A map from class to score for each row")
                     .in("X", kFloat32)
                     .out("Z")
                     .attrInts("classlabels_int64s")
                     .attr("classlabels_strings", AttributeKind::Strings)
                     .runs(zipMap, inferZipMap));
    registry.add(mlRow("CastMap", "The values of a map as a row")
                     .anyIn("X")
                     .out("Y")
                     .attrString("cast_to", "TO_FLOAT")
                     .attrString("map_form", "DENSE")
                     .attrInt("max_map", 1)
                     .runs(castMap, inferCastMap));
    registry.add(mlRow("DictVectorizer", "The value of a map for each word of a vocabulary")
                     .anyIn("X")
                     .out("Y")
                     .attrInts("int64_vocabulary")
                     .attr("string_vocabulary", AttributeKind::Strings)
                     .runs(vectorizeDict, inferVocabulary));
    registry.add(mlRow("FeatureVectorizer", "Columns of all inputs side by side")
                     .variadicIn("X", kFeatures)
                     .out("Y")
                     .attrInts("inputdimensions")
                     .runs(vectorizeFeatures, inferColumns));
    registry.add(mlRow("CategoryMapper", "Texts to numbers or back, by a table")
                     .in("X", kString | kInt64)
                     .out("Y")
                     .attrInts("cats_int64s")
                     .attr("cats_strings", AttributeKind::Strings)
                     .attrInt("default_int64", -1)
                     .attrString("default_string", "_Unused")
                     .runs(mapCategories, inferCategories));
}

}  // namespace sonde::ops
