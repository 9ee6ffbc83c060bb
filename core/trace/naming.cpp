#include "core/trace/naming.h"

#include <algorithm>

#include "core/base/number_text.h"

namespace sonde::trace {

namespace {

// Keywords and built-in names of Python 3 and the exception classes that it has built in
// (docs.python.org: "Keywords", "Built-in Functions", "Built-in Constants", "Exception hierarchy").
// clang-format off
constexpr std::string_view kReserved[] = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
    "pass", "raise", "return", "try", "while", "with", "yield",
    "Ellipsis", "NotImplemented", "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray",
    "bytes", "callable", "chr", "classmethod", "compile", "complex", "copyright", "credits", "delattr", "dict", "dir",
    "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr", "globals",
    "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len", "license", "list",
    "locals", "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print", "property",
    "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum",
    "super", "tuple", "type", "vars", "zip",
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BlockingIOError", "BrokenPipeError",
    "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError",
    "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "EncodingWarning",
    "EnvironmentError", "Exception", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning",
    "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError", "IndexError", "InterruptedError",
    "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotADirectoryError", "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning",
    "PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError",
    "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit",
    "TabError", "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning", "ZeroDivisionError",
    "inf", "nan", "NoneType"};
// clang-format on
constexpr std::string_view kReservedByFx[] = {"torch", "device", "fx_pytree", "pytree"};

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// "a_01" → ("a", 1). False if the text does not end in '_' and a number that fits.
bool splitNumber(std::string_view text, std::string_view& base, std::uint64_t& number) {
    std::size_t start = text.size();
    while (start > 0 && isDigit(text[start - 1])) --start;
    if (start == text.size() || start == 0 || text[start - 1] != '_' || text.size() - start > 18) return false;
    base = text.substr(0, start - 1);
    number = *base::parseNumber<std::uint64_t>(text.substr(start));
    return true;
}

}  // namespace

bool isReservedName(std::string_view word, bool withTorchNames) {
    static const std::unordered_set<std::string_view> words(std::begin(kReserved), std::end(kReserved));
    if (words.contains(word)) return true;
    return withTorchNames &&
           std::find(std::begin(kReservedByFx), std::end(kReservedByFx), word) != std::end(kReservedByFx);
}

std::string identifierOf(std::string_view text) {
    std::string result;
    bool inRun = false;
    for (char c : text) {
        if (isLower(c) || isUpper(c) || isDigit(c) || c == '_') {
            result += c;
            inRun = false;
        } else if (!inRun) {
            result += '_';
            inRun = true;
        }
    }
    if (!result.empty() && isDigit(result.front())) result.insert(result.begin(), '_');
    return result;
}

std::string snakeCase(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (isUpper(text[i]) && i > 0 && isLower(text[i - 1])) result += '_';
        result += isUpper(text[i]) ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    }
    return result;
}

std::string nameCandidate(std::string_view target) {
    if (target.size() > 4 && target.starts_with("__") && target.ends_with("__"))
        target = target.substr(2, target.size() - 4);
    return snakeCase(target);
}

std::string FxNames::unique(std::string_view candidate) {
    std::string name = identifierOf(candidate);
    if (name.empty()) name = "_unnamed";
    std::string_view base = name;
    std::uint64_t number = 0;
    std::string normalised = name;
    if (splitNumber(name, base, number)) normalised = std::string(base) + '_' + std::to_string(number);
    if (!m_used.contains(normalised) && !isReservedName(normalised, true)) return *m_used.insert(normalised).first;

    const std::string head(base);
    std::uint64_t& next = m_next.try_emplace(normalised, number + 1).first->second;
    std::string result;
    do {
        result = head + '_' + std::to_string(next++);
    } while (m_used.contains(result) || isReservedName(result, true));
    m_used.insert(result);
    return result;
}

std::string TracedNames::unique(std::string_view wanted) {
    std::string name = identifierOf(wanted);
    if (name.empty()) name = "_";
    if (!m_used.contains(name) && !isReservedName(name, false)) return *m_used.insert(name).first;

    std::string_view base = name;
    std::uint64_t number = 0;
    splitNumber(name, base, number);
    const std::string head(base);
    std::uint64_t& next = m_next.try_emplace(name, number + 1).first->second;
    std::string result;
    do {
        result = head + '_' + std::to_string(next++);
    } while (m_used.contains(result) || isReservedName(result, false));
    m_used.insert(result);
    return result;
}

void TracedNames::free(const std::string& name) {
    m_used.erase(name);
    m_next.clear();
}

}  // namespace sonde::trace
