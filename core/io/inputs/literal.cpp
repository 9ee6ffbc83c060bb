#include "core/io/inputs/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/base/number_text.h"
#include "core/io/inputs/agreement.h"

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
    bool isOutOfRange = false;  ///< a number above those of double
    double real = 0;
    std::string text;  ///< of a string: without its quotes; else as written
};

bool isBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmedBlanks(std::string_view text) {
    while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
    while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
    return text;
}

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

std::optional<Element> elementOf(std::string_view word) {
    Element element;
    element.text = word;
    if (word == "true" || word == "True" || word == "false" || word == "False") {
        element.kind = Element::Kind::Bool;
        element.integer = word.front() == 't' || word.front() == 'T';
        element.real = static_cast<double>(element.integer);
        return element;
    }
    std::string_view digits = word;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (digits.empty() || digits.starts_with('+') || (word.front() == '+' && digits.front() == '-'))
        return std::nullopt;
    if (const auto integer = base::parseNumber<std::int64_t>(digits)) {
        element.integer = *integer;
        element.real = static_cast<double>(element.integer);
        return element;
    }
    if (const auto bits = base::parseNumber<std::uint64_t>(digits)) {
        element.bits = *bits;
        element.isHuge = true;
        element.real = static_cast<double>(element.bits);
        return element;
    }
    // Out of range is not the same as no number here: from_chars tells them apart.
    const char *begin = digits.data(), *end = begin + digits.size();
    const auto read = std::from_chars(begin, end, element.real);
    if (read.ec == std::errc::invalid_argument || read.ptr != end) return std::nullopt;
    element.kind = Element::Kind::Float;
    if (read.ec != std::errc()) {
        element.real = beyondDoubles(begin, end);
        element.isOutOfRange = std::isinf(element.real);
    }
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
            return problem("a list of " + std::to_string(length) + " next to one of " + std::to_string(dims[depth]) +
                           " elements");
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

/// The elements in a type that holds every one of them as it is written.
Result<Tensor> widest(const std::vector<Element>& elements, const Shape& shape) {
    bool anyFloat = false, anyHuge = false, anyString = false, anyNegative = false, anyNumber = false;
    for (const Element& element : elements) {
        anyFloat = anyFloat || element.kind == Element::Kind::Float;
        anyString = anyString || element.kind == Element::Kind::String;
        anyNumber = anyNumber || element.kind != Element::Kind::String;
        anyHuge = anyHuge || element.isHuge;
        anyNegative = anyNegative || element.integer < 0;
    }
    if (anyString && anyNumber) return usageError("strings and numbers in one list");
    if (anyString) {
        std::vector<std::string> texts;
        for (const Element& element : elements) texts.push_back(element.text);
        return Tensor::ofStrings(shape, std::move(texts));
    }
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

/// A truth is no number: Python's True would pass for 1.
bool isTruthAmongNumbers(const std::vector<Element>& elements, const InputInfo& input) {
    const bool isPlain = input.type.kind && !input.type.isTensor();
    const bool takesNumbers = isPlain ? input.type.kind == ValueKind::Int || input.type.kind == ValueKind::Float
                                      : input.type.dtype != DType::Undefined && input.type.dtype != DType::Bool &&
                                            input.type.dtype != DType::String;
    return takesNumbers &&
           std::ranges::any_of(elements, [](const Element& element) { return element.kind == Element::Kind::Bool; });
}

}  // namespace

bool isLiteral(std::string_view text) {
    text = trimmedBlanks(text);
    if (text.empty()) return false;
    if (text == kNone) return true;
    return std::string_view("[{'\"").find(text.front()) != std::string_view::npos || elementOf(text).has_value();
}

Result<Value> literalValue(std::string_view text, const InputInfo& input) {
    if (trimmedBlanks(text) == kNone) return noValue(input);
    Parser parser(text);
    if (auto read = parser.parse(); !read) return std::move(read).error().withNote("for input '" + input.name + "'");
    const bool isPlain = input.type.kind && !input.type.isTensor();
    const DType wanted = isPlain ? DType::Undefined : input.type.dtype;
    if (parser.isShapeOnly) {
        SONDE_ASSIGN(Tensor tensor, shapeOnly(parser.dims, wanted));
        return fitted(std::move(tensor), input, std::string(text));
    }
    if (isTruthAmongNumbers(parser.elements, input)) return notTaken(text, input, ", a bool", "write 0 or 1");
    Shape shape(parser.dims);
    if (shape.rank() == 0) shape = shapeOfOne(input.type);
    SONDE_ASSIGN(Tensor tensor, widest(parser.elements, shape));
    if (wanted == DType::Undefined && !isPlain) {
        SONDE_ASSIGN(tensor, tensor.cast(ownType(parser.elements)));
    }
    if (isPlain && input.type.kind == ValueKind::Bool && ownType(parser.elements) == DType::Bool) {
        SONDE_ASSIGN(tensor, tensor.cast(DType::Bool));
    }
    return fitted(std::move(tensor), input, std::string(text));
}

}  // namespace sonde::io
