// Preparation of features, domain ai.onnx.ml. https://onnx.ai/onnx/operators/ (section ai.onnx.ml). The models are in
// ml_trees.cpp, ml_svm.cpp and ml_linear.cpp, maps and categories in ml_maps.cpp.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/ml_row.h"
#include "core/ops/support/scores.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

base::Result<void> extractFeatures(KernelContext& context) {
    const Tensor& x = context.in("X");
    if (x.rank() < 1) return opError("needs at least one dimension");
    const std::int64_t columns = x.dim(x.rank() - 1);
    SONDE_ASSIGN(const std::vector<std::int64_t> picks, intsOf(context.value("Y")));
    std::vector<Value> parts;
    for (std::int64_t pick : picks) {
        if (pick < 0 || pick >= columns) return opError("there is no feature " + std::to_string(pick));
    }
    const std::int64_t rows = columns == 0 ? 0 : x.numel() / columns;
    Shape shape = x.shape();
    shape[shape.rank() - 1] = static_cast<std::int64_t>(picks.size());
    if (x.rank() == 1) shape = Shape{1, static_cast<std::int64_t>(picks.size())};
    if (x.dtype() == DType::String) {
        std::vector<std::string> texts;
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t pick : picks) texts.push_back(x.strings()[static_cast<std::size_t>(r * columns + pick)]);
        }
        context.setOutput(Value(Tensor::ofStrings(shape, std::move(texts))));
        return {};
    }
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    const std::size_t size = tensor::itemSize(x.dtype());
    std::byte* out = y.mutableBytes();
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t pick : picks) {
            const std::byte* from = x.bytes() + static_cast<std::size_t>(r * columns + pick) * size;
            out = std::copy(from, from + size, out);
        }
    }
    return {};
}

base::Result<void> inferExtracted(InferContext& context) {
    const auto& shape = context.in("X").shape;
    if (!shape || shape->empty()) {
        setLike(context, "X", std::nullopt);
        return {};
    }
    const auto count = context.in("Y").shape ? tensor::product(*context.in("Y").shape).dim() : tensor::Dim{};
    Dims dims = shape->size() == 1 ? Dims{tensor::Dim::of(1), {}} : *shape;
    dims.back() = count;
    setLike(context, "X", std::move(dims));
    return {};
}

base::Result<void> inferFloats(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Float32, context.in("X").shape));
    return {};
}

base::Result<void> inferCategoriesOneHot(InferContext& context) {
    const std::size_t texts = context.attributes().getStrings("cats_strings").size();
    std::optional<Dims> dims = context.in("X").shape;
    if (dims)
        dims->push_back(tensor::Dim::of(
            static_cast<std::int64_t>(texts > 0 ? texts : context.attributes().getInts("cats_int64s").size())));
    context.set(TypeInfo::tensor(DType::Float32, std::move(dims)));
    return {};
}

/// y = f(x, column) for every element, in float32 or the input's float type.
template <typename F>
base::Result<void> mapFeatures(KernelContext& context, DType dtype, F f) {
    const Tensor& x = context.in("X");
    const std::int64_t columns = x.rank() == 0 ? 1 : std::max<std::int64_t>(x.dim(x.rank() - 1), 1);
    SONDE_ASSIGN(const Tensor wide, Tensor::allocate(DType::Float64, x.shape()));
    auto* values = const_cast<double*>(wide.data<double>());
    for (std::int64_t i = 0; i < x.numel(); ++i) values[i] = f(x.toDouble(i), static_cast<std::size_t>(i % columns));
    SONDE_ASSIGN(Tensor y, wide.cast(dtype));
    context.setOutput(Value(std::move(y)));
    return {};
}

base::Result<void> binarize(KernelContext& context) {
    const double threshold = context.attributes().getFloat("threshold", 0);
    return mapFeatures(context, context.in("X").dtype(),
                       [=](double x, std::size_t) { return x > threshold ? 1.0 : 0.0; });
}

/// A list with one entry for all features or one for each.
double featureOf(const std::vector<double>& list, std::size_t column, double fallback) {
    if (list.empty()) return fallback;
    return list.size() == 1 ? list[0] : (column < list.size() ? list[column] : fallback);
}

base::Result<void> scale(KernelContext& context) {
    const auto offset = context.attributes().getFloats("offset");
    const auto factor = context.attributes().getFloats("scale");
    return mapFeatures(context, DType::Float32, [&](double x, std::size_t column) {
        return (x - featureOf(offset, column, 0)) * featureOf(factor, column, 1);
    });
}

base::Result<void> impute(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    std::vector<double> values = attributes.getFloats("imputed_value_floats");
    double replaced = attributes.getFloat("replaced_value_float", 0);
    if (isInteger(context.in("X").dtype())) {
        const auto integers = attributes.getInts("imputed_value_int64s");
        values.assign(integers.begin(), integers.end());
        replaced = static_cast<double>(attributes.getInt("replaced_value_int64", 0));
    }
    return mapFeatures(context, context.in("X").dtype(), [&](double x, std::size_t column) {
        const bool isMissing = std::isnan(replaced) ? std::isnan(x) : x == replaced;
        return isMissing ? featureOf(values, column, x) : x;
    });
}

/// MAX: x / max(x) (the maximum has a sign); L1: x / Σ|x|; L2: x / sqrt(Σx²); for each row. A row that would be divided
/// by 0 stays.
base::Result<void> normalizeRows(KernelContext& context) {
    const Tensor& x = context.in("X");
    SONDE_ASSIGN(const FeatureTable table, featureTable(x));
    const std::string norm = context.attributes().getString("norm", "MAX");
    if (norm != "MAX" && norm != "L1" && norm != "L2") return opError("norm '" + norm + "' is not supported");
    SONDE_ASSIGN(Tensor y, context.output(DType::Float32, x.shape()));
    for (std::int64_t r = 0; r < table.rows; ++r) {
        double length = norm == "MAX" ? -std::numeric_limits<double>::infinity() : 0;
        for (std::int64_t c = 0; c < table.columns; ++c) {
            const double v = x.toDouble(r * table.columns + c);
            length = norm == "MAX" ? std::max(length, v) : length + (norm == "L1" ? std::abs(v) : v * v);
        }
        if (norm == "L2") length = std::sqrt(length);
        for (std::int64_t c = 0; c < table.columns; ++c) {
            const double v = x.toDouble(r * table.columns + c);
            y.mutableData<float>()[r * table.columns + c] = static_cast<float>(length == 0 ? v : v / length);
        }
    }
    return {};
}

/// The column of the call's element.
std::size_t columnOf(const ElementCall& call) { return call.at.empty() ? 0 : static_cast<std::size_t>(call.at.back()); }

base::Result<Dependence> featureScaledTerms(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    Dependence made;
    made.formula = "(x - offset) * scale";
    dependence::addElement(made, made.part("x"), call, 0, call.element);
    made.number("offset", featureOf(attributes.getFloats("offset"), columnOf(call), 0));
    made.number("scale", featureOf(attributes.getFloats("scale"), columnOf(call), 1));
    return made;
}

base::Result<Dependence> imputedTerms(const ElementCall& call) {
    const double x = call.context.in("X").toDouble(call.element), y = call.result.toDouble(call.element);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return dependence::constantElement(y);
    return dependence::sourceElement(call, 0, 0, call.element, x);
}

base::Result<Dependence> rowNormalisedTerms(const ElementCall& call) {
    const std::string norm = call.context.attributes().getString("norm", "MAX"), length = norm == "MAX" ? "max(row)"
                                                                                          : norm == "L1"
                                                                                              ? "sum(abs(row))"
                                                                                              : "sqrt(sum(row * row))";
    const Shape& shape = call.context.in("X").shape();
    dependence::Region row = dependence::Region::only(call.at);
    if (shape.rank() > 0) row.widen(shape.rank() - 1, shape);
    Dependence made;
    made.formula = "where(" + length + " == 0, x, x / " + length + ")";
    dependence::addElement(made, made.part("x"), call, 0, call.element);
    SONDE_TRY(dependence::addRegion(made, made.listPart("row"), call, 0, row));
    return made;
}

/// Whether an element is the category that the last dimension names.
base::Result<Dependence> categoryTerms(const ElementCall& call) {
    const std::vector<std::int64_t> categories = call.context.attributes().getInts("cats_int64s");
    const Tensor& x = call.context.in("X");
    if (x.dtype() == DType::String || categories.empty()) return opError("categories that are texts have no formula");
    Dependence made;
    made.formula = isInteger(x.dtype()) ? "x == category" : "trunc(x) == category";
    dependence::addElement(made, made.part("x"), call, call.context.position("X"),
                           call.element / static_cast<std::int64_t>(categories.size()));
    made.number("category", static_cast<double>(categories[columnOf(call)]));
    return made;
}

/// The value that the table has for an element, which has no weight: it chooses.
base::Result<Dependence> encodedTerms(const ElementCall& call) {
    if (call.context.in("X").dtype() == DType::String) return opError("the code of a text has no formula");
    Dependence made;
    made.formula = "code";
    made.number("code", call.result.toDouble(call.element));
    dependence::addElement(made, made.part("x"), call, call.context.position("X"), call.element);
    made.terms.back().weight = 0;
    return made;
}

base::Result<void> categoriesOneHot(KernelContext& context) {
    const Tensor& x = context.in("X");
    const auto texts = context.attributes().getStrings("cats_strings");
    const auto numbers = context.attributes().getInts("cats_int64s");
    const std::size_t count = texts.empty() ? numbers.size() : texts.size();
    Shape shape = x.shape();
    shape.push_back(static_cast<std::int64_t>(count));
    SONDE_ASSIGN(Tensor y, context.output(DType::Float32, shape));
    std::fill_n(y.mutableData<float>(), y.numel(), 0.0F);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        std::size_t place = count;
        if (x.dtype() == DType::String) {
            place = static_cast<std::size_t>(
                std::find(texts.begin(), texts.end(), x.strings()[static_cast<std::size_t>(i)]) - texts.begin());
        } else {
            place = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), x.toInt64(i)) - numbers.begin());
        }
        if (place < count) {
            y.mutableData<float>()[static_cast<std::size_t>(i) * count + place] = 1.0F;
        } else if (context.attributes().getInt("zeros", 1) == 0) {
            return opError("element " + x.elementText(i) + " is not one of the categories");
        }
    }
    return {};
}

// ---- label encoder: keys and values of any of three types, as lists or (since version 4) as tensors.

/// Keys compare by their text or by their number; NaN is a key like any other.
std::string keyText(const Tensor& tensor, std::int64_t index) {
    if (tensor.dtype() == DType::String) return "s" + tensor.strings()[static_cast<std::size_t>(index)];
    const double number = tensor.toDouble(index);
    if (std::isnan(number)) return "nan";
    return isInteger(tensor.dtype()) ? "i" + std::to_string(tensor.toInt64(index))
                                     : "f" + std::to_string(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));
}

/// The first of the attributes PREFIXstrings, PREFIXint64s, PREFIXfloats, PREFIXtensor that is there, as a tensor.
std::optional<Tensor> listed(const Attributes& attributes, const std::string& prefix) {
    if (const auto tensor = attributes.getTensor(prefix + "tensor")) return tensor;
    const auto shapeOf = [](std::size_t count) { return Shape{static_cast<std::int64_t>(count)}; };
    if (const auto texts = attributes.getStrings(prefix + "strings"); !texts.empty())
        return Tensor::ofStrings(shapeOf(texts.size()), texts);
    if (const auto integers = attributes.getInts(prefix + "int64s"); !integers.empty())
        return Tensor::of<std::int64_t>(shapeOf(integers.size()), integers);
    if (const auto reals = attributes.getFloats(prefix + "floats"); !reals.empty()) {
        std::vector<float> floats(reals.begin(), reals.end());
        return Tensor::of<float>(shapeOf(floats.size()), floats);
    }
    return std::nullopt;
}

/// What stands for an unknown key: the default of the values' type.
Tensor defaultLabel(const Attributes& attributes, DType dtype) {
    if (const auto given = attributes.getTensor("default_tensor"); given && given->numel() == 1) return *given;
    if (dtype == DType::String) return Tensor::ofStrings({1}, {attributes.getString("default_string", "_Unused")});
    if (isInteger(dtype)) return Tensor::of<std::int64_t>({1}, {attributes.getInt("default_int64", -1)});
    return Tensor::of<float>({1}, {static_cast<float>(attributes.getFloat("default_float", -0.0))});
}

base::Result<void> encode(KernelContext& context, const Tensor& keys, const Tensor& values) {
    if (keys.numel() != values.numel())
        return opError("has " + std::to_string(keys.numel()) + " keys for " + std::to_string(values.numel()) +
                       " values");
    std::map<std::string, std::int64_t> places;
    for (std::int64_t i = 0; i < keys.numel(); ++i) places.emplace(keyText(keys, i), i);
    SONDE_ASSIGN(const Tensor unknown, defaultLabel(context.attributes(), values.dtype()).cast(values.dtype()));
    const Tensor& x = context.in("X");
    SONDE_ASSIGN(const Tensor typed, x.dtype() == DType::String ? base::Result<Tensor>(x) : x.cast(keys.dtype()));
    std::vector<std::string> texts;
    Tensor y;
    if (values.dtype() != DType::String) {
        SONDE_ASSIGN(y, context.output(values.dtype(), x.shape()));
    }
    const std::size_t size = tensor::itemSize(values.dtype());
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        const auto found = places.find(keyText(typed, i));
        const Tensor& source = found == places.end() ? unknown : values;
        const std::int64_t place = found == places.end() ? 0 : found->second;
        if (values.dtype() == DType::String) {
            texts.push_back(source.strings()[static_cast<std::size_t>(place)]);
        } else {
            std::copy_n(source.bytes() + static_cast<std::size_t>(place) * size, size,
                        y.mutableBytes() + static_cast<std::size_t>(i) * size);
        }
    }
    if (values.dtype() == DType::String) context.setOutput(Value(Tensor::ofStrings(x.shape(), std::move(texts))));
    return {};
}

base::Result<void> labelEncoder(KernelContext& context) {
    const auto keys = listed(context.attributes(), "keys_");
    const auto values = listed(context.attributes(), "values_");
    if (!keys || !values) return opError("has no keys or no values");
    return encode(context, *keys, *values);
}

base::Result<void> inferLabels(InferContext& context) {
    const auto values = listed(context.attributes(), "values_");
    context.set(TypeInfo::tensor(values ? values->dtype() : DType::Undefined, context.in("X").shape));
    return {};
}

base::Result<void> inferClassLabels(InferContext& context) {
    const DType dtype = context.in("X").dtype;
    context.set(TypeInfo::tensor(dtype == DType::String      ? DType::Int64
                                 : dtype == DType::Undefined ? dtype
                                                             : DType::String,
                                 context.in("X").shape));
    return {};
}

/// Version 1: names to their position, or positions to names.
base::Result<void> labelEncoderOfClasses(KernelContext& context) {
    const auto classes = context.attributes().getStrings("classes_strings");
    const auto count = static_cast<std::int64_t>(classes.size());
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
    const Tensor names = Tensor::ofStrings({count}, classes);
    const Tensor places = Tensor::of<std::int64_t>({count}, numbers);
    return context.in("X").dtype() == DType::String ? encode(context, names, places) : encode(context, places, names);
}

}  // namespace

void define_ml(Registry& registry) {
    registry.add(mlRow("ArrayFeatureExtractor", "The features at some positions of the last axis")
                     .in("X")
                     .in("Y", kIndex)
                     .out("Z")
                     .runs(extractFeatures, inferExtracted));
    registry.add(mlRow("Binarizer", "1 above a threshold, else 0")
                     .in("X", kFeatures)
                     .out("Y")
                     .attrFloat("threshold", 0)
                     .runs(binarize, inferSame));
    registry.add(mlRow("Scaler", "(x − offset) · scale for each feature")
                     .in("X", kFeatures)
                     .out("Y")
                     .attr("offset", AttributeKind::Floats)
                     .attr("scale", AttributeKind::Floats)
                     .runs(scale, inferFloats));
    registry.add(mlRow("Imputer", "Missing values replaced, for each feature")
                     .in("X", kFeatures)
                     .out("Y")
                     .attr("imputed_value_floats", AttributeKind::Floats)
                     .attrInts("imputed_value_int64s")
                     .attrFloat("replaced_value_float", 0)
                     .attrInt("replaced_value_int64", 0)
                     .runs(impute, inferSame));
    registry.add(mlRow("Normalizer", "Rows divided by their length")
                     .in("X", kFeatures)
                     .out("Y")
                     .attrString("norm", "MAX")
                     .runs(normalizeRows, inferFloats));
    registry.add(mlRow("OneHotEncoder", "A 1 at the index of the category")
                     .in("X")
                     .out("Y")
                     .attrInts("cats_int64s")
                     .attr("cats_strings", AttributeKind::Strings)
                     .attrInt("zeros", 1)
                     .runs(categoriesOneHot, inferCategoriesOneHot));
    registry.add(mlRow("LabelEncoder", "Names to positions in a list, or back")
                     .in("X", kString | kInt64)
                     .out("Y")
                     .attr("classes_strings", AttributeKind::Strings)
                     .attrInt("default_int64", -1)
                     .attrString("default_string", "_Unused")
                     .runs(labelEncoderOfClasses, inferClassLabels));
    for (int since : {2, 4}) {
        registry.add(mlRow("LabelEncoder", "Each element replaced by its entry in a table", since)
                         .in("X")
                         .out("Y")
                         .attr("keys_strings", AttributeKind::Strings)
                         .attrInts("keys_int64s")
                         .attr("keys_floats", AttributeKind::Floats)
                         .attr("keys_tensor", AttributeKind::Tensor)
                         .attr("values_strings", AttributeKind::Strings)
                         .attrInts("values_int64s")
                         .attr("values_floats", AttributeKind::Floats)
                         .attr("values_tensor", AttributeKind::Tensor)
                         .attr("default_tensor", AttributeKind::Tensor)
                         .attrInt("default_int64", -1)
                         .attrString("default_string", "_Unused")
                         .attrFloat("default_float", -0.0)
                         .runs(labelEncoder, inferLabels));
    }
    explain("ai.onnx.ml", "ArrayFeatureExtractor", dependence::moved, "X");
    explain("ai.onnx.ml", "Binarizer", dependence::elementWise, "x > threshold");
    explain("ai.onnx.ml", "Scaler", featureScaledTerms);
    explain("ai.onnx.ml", "Imputer", imputedTerms);
    explain("ai.onnx.ml", "Normalizer", rowNormalisedTerms);
    explain("ai.onnx.ml", "OneHotEncoder", categoryTerms);
    explain("ai.onnx.ml", "LabelEncoder", encodedTerms);
}

}  // namespace sonde::ops
