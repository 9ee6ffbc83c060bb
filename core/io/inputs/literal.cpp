#include "core/io/inputs/literal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/decimal.h"
#include "core/tensor/cast.h"
#include "core/tensor/exact_cast.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxElements = 1u << 20;
constexpr std::string_view kNone = "None";

/// One element as it is written.
struct Element {
    enum class Kind : std::uint8_t { Int, Float, Bool, String };
    Kind kind = Kind::Int;
    std::int64_t integer = 0;
    bool isHuge = false;  ///< an integer above those of int64, in `bits`
    std::uint64_t bits = 0;
    bool isIntegral = false;    ///< `integer` or `bits` is the number, also of 2.0 and 1e3
    bool isOutOfRange = false;  ///< a number above those of double
    double real = 0;
    std::optional<Decimal> exact = {};  ///< of finite numbers, also where `real` is rounded
    std::string text;                   ///< of a string: without its quotes; else as written
};

bool isBlank(char c) { return c == ' ' || c == '\t'; }

/// A number that no double comes near to: 0 below the smallest, as strtod has it, infinite above the largest.
double beyondDoubles(const char* begin, const char* end) {
    long double wide = 0;
    if (std::from_chars(begin, end, wide).ec == std::errc()) return static_cast<double>(wide);
    const std::string_view text(begin, static_cast<std::size_t>(end - begin));
    const std::size_t exponent = text.find_first_of("eE");
    const bool isSmall = exponent == std::string_view::npos ? text.find_first_of("123456789") > text.find('.')
                                                            : text.substr(exponent + 1).starts_with('-');
    const double magnitude = isSmall ? 0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -magnitude : magnitude;
}

/// The number as an integer of 64 bits, if it is one.
void findInteger(Element& element) {
    const auto magnitude = element.exact ? element.exact->magnitude() : std::nullopt;
    if (!magnitude) return;
    constexpr std::uint64_t kTwo63 = std::uint64_t{1} << 63;
    const bool isNegative = element.exact->isNegative;
    const bool isWide = *magnitude >= kTwo63 + (isNegative ? 1 : 0);
    element.isIntegral = !isWide || !isNegative;
    element.isHuge = isWide && !isNegative;
    if (element.isHuge) element.bits = *magnitude;
    else if (!isWide) element.integer = static_cast<std::int64_t>(isNegative ? ~*magnitude + 1 : *magnitude);
}

std::optional<Element> elementOf(std::string_view word) {
    Element element;
    element.text = word;
    if (word == "true" || word == "True" || word == "false" || word == "False") {
        element.kind = Element::Kind::Bool;
        element.integer = word.front() == 't' || word.front() == 'T';
        element.isIntegral = true;
        element.real = static_cast<double>(element.integer);
        return element;
    }
    std::string_view digits = word;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (digits.empty() || digits.starts_with('+') || (word.front() == '+' && digits.front() == '-'))
        return std::nullopt;
    // Out of range is not the same as no number here: from_chars tells them apart.
    const char *begin = digits.data(), *end = begin + digits.size();
    const auto read = std::from_chars(begin, end, element.real);
    if (read.ec == std::errc::invalid_argument || read.ptr != end) return std::nullopt;
    if (read.ec != std::errc()) {
        element.real = beyondDoubles(begin, end);
        element.isOutOfRange = std::isinf(element.real);
    }
    element.exact = parseDecimal(digits);
    findInteger(element);
    const bool isWrittenSo = digits.find_first_not_of("-0123456789") == std::string_view::npos;
    element.kind = element.isIntegral && isWrittenSo ? Element::Kind::Int : Element::Kind::Float;
    return element;
}

/// Reads nested lists into one row of elements and a shape.
class Parser {
  public:
    explicit Parser(std::string_view text) : m_text(text) {}

    Result<void> parse() {
        skipBlanks();
        if (at() == '{') return parseShape();
        SONDE_TRY(parseItem(0));
        return finish();
    }

    std::vector<Element> elements;
    std::vector<std::int64_t> dims;
    bool isShapeOnly = false;

  private:
    char at() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    void skipBlanks() {
        while (isBlank(at())) ++m_at;
    }
    base::Error problem(const std::string& what) const {
        return usageError(what + " at column " + std::to_string(m_at + 1), "'" + std::string(m_text) + "'",
                          "write 16000, [1,2,3] or [[1,2],[3,4]]");
    }
    Result<void> finish() {
        skipBlanks();
        if (m_at < m_text.size()) return problem("unexpected '" + std::string(1, at()) + "'");
        return {};
    }

    Result<void> parseItem(std::size_t depth) {
        skipBlanks();
        if (at() == '[') return parseList(depth);
        // The first element tells how deep all of them are.
        if (!m_depth) m_depth = depth;
        if (*m_depth != depth) return problem("lists and numbers are mixed");
        if (elements.size() >= kMaxElements) return problem("more than " + std::to_string(kMaxElements) + " numbers");
        if (at() == '\'' || at() == '"') return parseString();
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && std::string_view(",[]{} \t").find(at()) == std::string_view::npos) ++m_at;
        const auto element = elementOf(m_text.substr(begin, m_at - begin));
        if (!element) {
            const std::string word(m_text.substr(begin, m_at - begin));
            m_at = begin;
            return problem(word.empty() ? "a number is missing" : "'" + word + "' is not a number");
        }
        if (element->isOutOfRange) {
            m_at = begin;
            return problem("'" + element->text + "' is out of range: the maximum is 1.8e308");
        }
        elements.push_back(*element);
        return {};
    }

    Result<void> parseString() {
        const char quote = at();
        const std::size_t end = m_text.find(quote, m_at + 1);
        if (end == std::string_view::npos) return problem("the string has no closing quote");
        Element element;
        element.kind = Element::Kind::String;
        element.text = m_text.substr(m_at + 1, end - m_at - 1);
        elements.push_back(std::move(element));
        m_at = end + 1;
        return {};
    }

    Result<void> parseList(std::size_t depth) {
        if (depth >= kMaxDepth) return problem("more than " + std::to_string(kMaxDepth) + " nested lists");
        const std::size_t begin = m_at++;
        std::int64_t length = 0;
        skipBlanks();
        while (at() != ']') {
            if (length > 0) {
                if (at() != ',') return problem(m_at < m_text.size() ? "',' or ']' is missing" : "']' is missing");
                ++m_at;
            }
            SONDE_TRY(parseItem(depth + 1));
            ++length;
            skipBlanks();
        }
        ++m_at;
        if (length == 0) {
            if (m_depth.value_or(depth + 1) != depth + 1) return problem("lists and numbers are mixed");
            m_depth = depth + 1;
        }
        if (dims.size() <= depth) dims.resize(depth + 1, -1);
        if (dims[depth] >= 0 && dims[depth] != length) {
            m_at = begin;
            return problem("a list of " + std::to_string(length) + " next to one of " +
                           base::countedText(dims[depth], "element"));
        }
        dims[depth] = length;
        return {};
    }

    Result<void> parseShape() {
        isShapeOnly = true;
        ++m_at;
        skipBlanks();
        while (at() != '}') {
            if (!dims.empty()) {
                if (at() != ',') return problem(m_at < m_text.size() ? "',' or '}' is missing" : "'}' is missing");
                ++m_at;
                skipBlanks();
            }
            std::string_view rest = m_text.substr(m_at);
            const auto size = base::takeNumber<std::int64_t>(rest);
            if (!size || *size < 0) return problem("a dim size is missing");
            if (dims.size() >= kMaxDepth) return problem("more than " + std::to_string(kMaxDepth) + " dimensions");
            m_at = m_text.size() - rest.size();
            dims.push_back(*size);
            skipBlanks();
        }
        ++m_at;
        return finish();
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::optional<std::size_t> m_depth;  ///< of the elements
};

DType ownType(const std::vector<Element>& elements) {
    bool anyFloat = false, allBool = !elements.empty(), anyLarge = false;
    for (const Element& element : elements) {
        if (element.kind == Element::Kind::String) return DType::String;
        anyFloat = anyFloat || element.kind == Element::Kind::Float;
        allBool = allBool && element.kind == Element::Kind::Bool;
        anyLarge = anyLarge || element.isHuge || element.integer != static_cast<std::int32_t>(element.integer);
    }
    return anyFloat ? DType::Float32 : allBool ? DType::Bool : anyLarge ? DType::Int64 : DType::Int32;
}

/// The elements in a type that holds every one of them as it is written, if there is one; `wanted` is what they become.
Result<Tensor> widest(const std::vector<Element>& elements, const Shape& shape, DType wanted) {
    const auto any = [&elements](const auto& is) { return std::ranges::any_of(elements, is); };
    const bool anyString = any([](const Element& e) { return e.kind == Element::Kind::String; });
    if (anyString && any([](const Element& e) { return e.kind != Element::Kind::String; }))
        return usageError("strings and numbers in one list");
    if (anyString) {
        std::vector<std::string> texts;
        for (const Element& element : elements) texts.push_back(element.text);
        return Tensor::ofStrings(shape, std::move(texts));
    }
    const bool isExact = tensor::isInteger(wanted);  // 9007199254740993.0 is no double
    const bool anyFloat =
        any([&](const Element& e) { return !e.isIntegral || (!isExact && e.kind == Element::Kind::Float); });
    const bool anyHuge = any([](const Element& e) { return e.isHuge; });
    const bool anyNegative = any([](const Element& e) { return e.integer < 0; });
    const DType dtype = anyFloat || (anyHuge && anyNegative) ? DType::Float64 : anyHuge ? DType::UInt64 : DType::Int64;
    SONDE_ASSIGN(Tensor tensor, Tensor::allocate(dtype, shape));
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (dtype == DType::Float64) tensor.mutableSpan<double>()[i] = elements[i].real;
        else if (dtype == DType::UInt64)
            tensor.mutableSpan<std::uint64_t>()[i] =
                elements[i].isHuge ? elements[i].bits : static_cast<std::uint64_t>(elements[i].integer);
        else tensor.mutableSpan<std::int64_t>()[i] = elements[i].integer;
    }
    return tensor;
}

/// What a dtype takes from a number as it is written, where its double would not tell.
std::optional<tensor::Loss> lossOf(const Element& element, DType dtype) {
    if (element.kind == Element::Kind::Bool || element.kind == Element::Kind::String) return std::nullopt;
    const bool isWhole = element.exact && element.exact->isInteger();
    if (dtype == DType::Bool && !isWhole) return tensor::Loss::NotBool;
    if (tensor::isInteger(dtype) && !element.isIntegral) return isWhole ? tensor::Loss::Range : tensor::Loss::Fraction;
    const bool hasPoint = element.text.find_first_of(".eE") != std::string::npos;
    if (!tensor::isFloating(dtype) || !isWhole || hasPoint) return std::nullopt;  // floats are rounded
    std::array<std::byte, sizeof(double)> narrow{};
    double held = 0;
    tensor::castElements(DType::Float64, &element.real, dtype, narrow.data(), 1);
    tensor::castElements(dtype, narrow.data(), DType::Float64, &held, 1);
    if (!std::isfinite(held)) return tensor::Loss::Range;
    return decimalOf(held) == *element.exact ? std::nullopt : std::optional(tensor::Loss::Precision);
}

/// The first number that becomes another one: "element 0 is 1.5, not an integer".
std::optional<std::string> lossIn(const std::vector<Element>& elements, DType dtype) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (const auto loss = lossOf(elements[i], dtype))
            return "element " + std::to_string(i) + " is " + elements[i].text + ", " + lossText(*loss, dtype);
    }
    return std::nullopt;
}

DType dtypeOf(const tensor::TypeInfo& type) {
    if (!type.kind || type.isTensor()) return type.dtype;
    switch (*type.kind) {
        case ValueKind::Int: return DType::Int64;
        case ValueKind::Float: return DType::Float64;
        case ValueKind::Bool: return DType::Bool;
        default: return DType::Undefined;
    }
}

/// Elements of one dtype as the value of an input, or of an element of it: `type`.
Result<Value> fittedElements(const std::vector<Element>& elements, const Shape& shape, const tensor::TypeInfo& type,
                             const InputInfo& input, std::string_view text) {
    const DType dtype = dtypeOf(type);
    SONDE_ASSIGN(Tensor tensor, widest(elements, shape, dtype));
    if (const auto lost = input.required ? lossIn(elements, dtype) : std::nullopt)
        return unexpectedValue(input, tensor.typeText(), *lost).at(std::string(text));
    if (type.kind == ValueKind::Bool && ownType(elements) == DType::Bool) {
        SONDE_ASSIGN(tensor, tensor.cast(DType::Bool));
    }
    InputInfo one = input;
    one.type = type;
    return fitted(std::move(tensor), one, std::string(text));
}

/// The model declares no dtype: the text alone tells it.
Result<Value> ownValue(const std::vector<Element>& elements, const Shape& shape, const InputInfo& input,
                       std::string_view text) {
    const DType dtype = ownType(elements);
    SONDE_ASSIGN(const Tensor wide, widest(elements, shape, dtype));
    SONDE_ASSIGN(Tensor tensor, wide.cast(dtype));
    auto lost = lossIn(elements, dtype);
    const auto changed = lost || dtype == DType::String ? std::nullopt : tensor::firstLost(wide, tensor);
    if (changed)
        lost = "element " + std::to_string(changed->index) + " is " +
               elements[static_cast<std::size_t>(changed->index)].text + ", " + lossText(changed->loss, dtype);
    if (lost)
        return usageError("input '" + input.name + "': " + *lost, std::string(text),
                          "the model declares no dtype; a .npy file may have any");
    return fitted(std::move(tensor), input, std::string(text));
}

/// A list or tuple of what is no tensor, each element as it is written.
Result<Value> plainList(const std::vector<Element>& elements, const InputInfo& input, std::string_view text) {
    const bool isTuple = input.type.kind == ValueKind::Tuple;
    tensor::ValueList items;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const tensor::TypeInfo& type = input.type.elements[isTuple ? i : 0];
        SONDE_ASSIGN(Value item, fittedElements({elements[i]}, Shape{}, type, input, text));
        items.push_back(std::move(item));
    }
    return isTuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

Result<Tensor> shapeOnly(const std::vector<std::int64_t>& dims, DType dtype) {
    if (dtype == DType::String) return usageError("a tensor of strings is not given by its shape alone");
    auto tensor = Tensor::zeros(dtype == DType::Undefined ? DType::Float32 : dtype, Shape(dims));
    if (!tensor) return usageError(tensor.error().what);
    if (tensor->numel() > 0) std::memset(tensor->mutableBytes(), 1, tensor->sizeBytes());
    return tensor;
}

/// The shape in which a single number is given: that of an input with one element.
Shape shapeOfOne(const tensor::TypeInfo& type) {
    if (!type.shape || type.shape->empty()) return {};
    const bool isOpenRow = type.shape->size() == 1 && !type.shape->front().known();
    for (const tensor::Dim& dim : *type.shape) {
        if (dim.value != 1 && !isOpenRow) return {};
    }
    return Shape(std::vector<std::int64_t>(type.shape->size(), 1));
}

base::Error notTaken(std::string_view text, const InputInfo& input, const std::string& detail,
                     const std::string& hint) {
    return usageError("input '" + input.name + "' expects " + input.type.text() + ", got " + std::string(text) + detail,
                      {}, hint);
}

/// No value, for an input that may have none or of which nothing is known.
Result<Value> noValue(const InputInfo& input) {
    const bool mayBeNone =
        !input.type.kind || input.type.kind == ValueKind::None || input.type.kind == ValueKind::Optional;
    if (!mayBeNone || input.type.dtype != DType::Undefined || input.type.shape)
        return notTaken(kNone, input, "", "omit the input, or give it a value");
    return Value();
}

/// A bool is no number: Python's True would pass for 1.
bool isBoolAmongNumbers(const std::vector<Element>& elements, const InputInfo& input) {
    const bool isPlain = input.type.kind && !input.type.isTensor();
    const bool takesNumbers = isPlain ? input.type.kind == ValueKind::Int || input.type.kind == ValueKind::Float
                                      : input.type.dtype != DType::Undefined && input.type.dtype != DType::Bool &&
                                            input.type.dtype != DType::String;
    return takesNumbers &&
           std::ranges::any_of(elements, [](const Element& element) { return element.kind == Element::Kind::Bool; });
}

}  // namespace

bool isLiteral(std::string_view text) {
    text = base::trimmed(text, " \t");
    if (text.empty()) return false;
    if (text == kNone) return true;
    return std::string_view("[{'\"").find(text.front()) != std::string_view::npos || elementOf(text).has_value();
}

Result<Value> literalValue(std::string_view text, const InputInfo& input) {
    if (base::trimmed(text, " \t") == kNone) return noValue(input);
    Parser parser(text);
    if (auto read = parser.parse(); !read) return std::move(read).error().withNote("for input '" + input.name + "'");
    const bool isPlain = input.type.kind && !input.type.isTensor();
    const DType wanted = isPlain ? DType::Undefined : input.type.dtype;
    if (parser.isShapeOnly) {
        SONDE_ASSIGN(Tensor tensor, shapeOnly(parser.dims, wanted));
        return fitted(std::move(tensor), input, std::string(text));
    }
    if (isBoolAmongNumbers(parser.elements, input)) return notTaken(text, input, ", a bool", "write 0 or 1");
    Shape shape(parser.dims);
    if (shape.rank() == 0) shape = shapeOfOne(input.type);
    if (wanted == DType::Undefined && !isPlain) return ownValue(parser.elements, shape, input, text);
    const std::vector<tensor::TypeInfo>& types = input.type.elements;
    const bool isList = input.type.kind == ValueKind::List || input.type.kind == ValueKind::Tuple;
    const bool isCounted = input.type.kind == ValueKind::List || types.size() == parser.elements.size();
    const bool arePlain = !types.empty() && std::ranges::all_of(types, [](const auto& type) {
        return dtypeOf(type) != DType::Undefined && !type.isTensor();
    });
    if (isList && isCounted && arePlain && shape.rank() == 1) return plainList(parser.elements, input, text);
    return fittedElements(parser.elements, shape, input.type, input, text);
}

}  // namespace sonde::io
