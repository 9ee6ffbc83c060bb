// Operators of the serialised language on numbers, text, lists and dicts. Expected values: what torch.jit.script (1.13)
// gives for the same expressions; for lists and dicts what docs.python.org says.

#include <QtTest>

#include "core/io/torchscript/interpreter.h"
#include "core/trace/error.h"

namespace tst_builtins {

using namespace sonde;
using io::script::makeList;
using io::script::makeTuple;
using io::script::ScriptValue;
using trace::Var;

namespace {

ScriptValue v(const char* text) { return ScriptValue(Var(std::string(text))); }
ScriptValue v(std::int64_t number) { return ScriptValue(Var(number)); }
ScriptValue v(int number) { return v(static_cast<std::int64_t>(number)); }
ScriptValue v(double number) { return ScriptValue(Var(number)); }
ScriptValue v(bool condition) { return ScriptValue(Var(condition)); }
ScriptValue v(ScriptValue value) { return value; }
template <typename... T>
ScriptValue list(T... items) {
    return makeList({v(items)...});
}
template <typename... T>
ScriptValue tuple(T... items) {
    return makeTuple({v(items)...});
}

ScriptValue call(const std::string& name, std::vector<ScriptValue> arguments) {
    ScriptValue result;
    if (!io::script::callBuiltin(name, arguments, result))
        throw trace::TraceError(trace::TraceErrorKind::Name, name + " is not defined for these");
    return result;
}
template <typename... T>
ScriptValue run(const std::string& name, T... arguments) {
    return call(name, {v(arguments)...});
}

std::string shown(const ScriptValue& value) { return toVar(call("format", {v("{}"), value})).value().toString(); }

/// The message of what a call raises, or nothing.
template <typename... T>
QString raised(const std::string& name, T... arguments) {
    try {
        (void)run(name, arguments...);
    } catch (const trace::TraceError& error) {
        return QString::fromStdString(error.what());
    }
    return {};
}

#define SHOWS(value, text) QCOMPARE(shown(value), std::string(text))

}  // namespace

class TestBuiltins : public QObject {
    Q_OBJECT

  private slots:
    void textMethods() {
        const char* s = "Hello World";
        SHOWS(run("upper", s), "HELLO WORLD");
        SHOWS(run("lower", s), "hello world");
        SHOWS(run("swapcase", s), "hELLO wORLD");
        SHOWS(run("title", "hello wORLD"), "Hello World");
        SHOWS(run("capitalize", s), "Hello world");
        SHOWS(run("count", s, "o"), "2");
        SHOWS(run("find", s, "o"), "4");
        SHOWS(run("rfind", s, "o"), "7");
        SHOWS(run("index", s, "W"), "6");
        SHOWS(run("rindex", s, "l"), "9");
        SHOWS(run("find", s, "x"), "-1");
        SHOWS(run("replace", s, "l", "L", 2), "HeLLo World");
        SHOWS(run("split", s), "[Hello, World]");
        SHOWS(run("split", "a,b,,c", ","), "[a, b, , c]");
        SHOWS(run("rsplit", "a,b,c", ",", 1), "[a,b, c]");
        SHOWS(run("splitlines", "x\ny\r\nz"), "[x, y, , z]");
        SHOWS(run("center", s, 15, "*"), "**Hello World**");
        SHOWS(run("ljust", s, 13), "Hello World  ");
        SHOWS(run("rjust", s, 13, "."), "..Hello World");
        SHOWS(run("zfill", "42", 5), "00042");
        SHOWS(run("zfill", "-42", 5), "00-42");
        SHOWS(run("strip", " a "), "a");
        SHOWS(run("lstrip", " a "), "a ");
        SHOWS(run("rstrip", "xxaxx", "x"), "xxa");
        SHOWS(run("partition", s, " "), "(Hello,  , World)");
        SHOWS(run("rpartition", s, "o"), "(Hello W, o, rld)");
        SHOWS(run("startswith", s, "He"), "True");
        SHOWS(run("endswith", s, "ld"), "True");
        SHOWS(run("join", "-", list("a", "b")), "a-b");
        SHOWS(run("expandtabs", "a\tb", 4), "a   b");
        SHOWS(run("isupper", s), "False");
        SHOWS(run("islower", "abc"), "True");
        SHOWS(run("isdigit", "123"), "True");
        SHOWS(run("isalnum", "ab1"), "True");
        SHOWS(run("isalpha", "ab"), "True");
        SHOWS(run("isspace", " "), "True");
        SHOWS(run("istitle", "Ab Cd"), "True");
        SHOWS(run("isidentifier", "ab1"), "True");
        SHOWS(run("slice", s, 1, 4, 1), "ell");
        SHOWS(run("slice", s, -3, 100, 1), "rld");
        SHOWS(run("__getitem__", s, 0), "H");
        SHOWS(run("len", s), "11");
        SHOWS(run("__contains__", s, "W"), "True");
        SHOWS(run("lt", s, "x"), "True");
        SHOWS(run("mul", "ab", 3), "ababab");
        SHOWS(run("ord", "a"), "97");
        SHOWS(run("chr", 98), "b");
        SHOWS(run("hex", 255), "0xff");
        SHOWS(run("oct", 8), "0o10");
        SHOWS(run("bin", 5), "0b101");
        QVERIFY(raised("index", s, "x").contains("substring not found"));
        QVERIFY(raised("rjust", s, std::int64_t{1} << 60).contains("size limit"));
    }

    void textOfThings() {
        SHOWS(run("str", 1.0), "1.");
        SHOWS(run("format", "{} {} {}", 1.0, 3, list(1, 2)), "1. 3 [1, 2]");
        SHOWS(run("percentFormat", "%s|%d|%f|%s", tuple("q", 3, 1.0, 1.0)), "q|3|1.000000|1.");
        SHOWS(run("percentFormat", "%e %E %F %c|%i", tuple(1.0, 1.0, 1.0, "A", 3)),
              "1.000000e+00 1.000000E+00 1.000000 A|3");
        SHOWS(run("str", 1e-7), "9.9999999999999995e-08");
        SHOWS(run("str", 1e20), "1e+20");
        SHOWS(run("str", 0.1), "0.10000000000000001");
        SHOWS(run("str", tuple(1, 2.5)), "(1, 2.5)");
        SHOWS(run("str", true), "True");
        SHOWS(run("format", "{}", ScriptValue()), "None");
        QVERIFY(raised("format", "{} {}", 1).contains("Too few arguments"));
        QVERIFY(raised("percentFormat", "%g", 1.0).contains("not supported"));
    }

    void numbers() {
        SHOWS(run("round", 2.5), "2.");
        SHOWS(run("round", 3.7), "4.");
        SHOWS(run("divmod", 7, -2), "(-4, -1)");
        SHOWS(run("divmod", 7.5, 2.0), "(3., 1.5)");
        SHOWS(run("gcd", 12, 18), "6");
        SHOWS(run("factorial", 5), "120");
        SHOWS(run("modf", 2.5), "(0.5, 2.)");
        SHOWS(run("frexp", 8.0), "(0.5, 4)");
        SHOWS(run("ldexp", 1.0, 3), "8.");
        SHOWS(run("degrees", 1.0), "57.295779513082323");
        SHOWS(run("fmod", -7, 3), "-1.");
        SHOWS(run("mathremainder", 7.0, 2.0), "-1.");
        SHOWS(run("floordiv", 7, -2), "-4");
        SHOWS(run("remainder", 7, -2), "-1");
        SHOWS(run("rsub", 2, 7, 1), "5");
        SHOWS(run("pow", 2, 3), "8.");
        SHOWS(run("pow", 2, -1), "0.5");
        SHOWS(run("copysign", 1.0, -2.0), "-1.");
        SHOWS(run("floor", 2.7), "2");
        SHOWS(run("ceil", 2.1), "3");
        SHOWS(run("__xor__", 5, 3), "6");
        SHOWS(run("__lshift__", 5, 2), "20");
        SHOWS(run("__rshift__", -5, 1), "-3");
        SHOWS(run("log", 8.0, 2.0), "3.");
        SHOWS(run("hypot", 3, 4), "5.");
        QVERIFY(raised("factorial", 21).contains("64 bits"));
        QVERIFY(raised("floordiv", 1, 0).contains("division by zero"));
        QVERIFY(raised("__lshift__", 1, -1).contains("negative"));
    }

    void listMethods() {
        const ScriptValue l = list(3, 1, 2);
        (void)run("append", l, 1);
        (void)run("insert", l, 1, 9);
        (void)run("extend", l, list(7));
        SHOWS(l, "[3, 9, 1, 2, 1, 7]");
        SHOWS(run("pop", l), "7");
        SHOWS(run("pop", l, 0), "3");
        SHOWS(run("index", l, 2), "2");
        SHOWS(run("count", l, 1), "2");
        (void)run("remove", l, 1);
        SHOWS(l, "[9, 2, 1]");
        SHOWS(run("sorted", l), "[1, 2, 9]");
        (void)run("sort", l);
        SHOWS(l, "[1, 2, 9]");
        (void)run("sort", l, true);
        SHOWS(l, "[9, 2, 1]");
        (void)run("reverse", l);
        (void)run("Delete", l, 0);
        SHOWS(l, "[2, 9]");
        SHOWS(run("sum", l), "11");
        SHOWS(run("prim.max", l), "9");
        SHOWS(run("prim.min", 2.5, 1.5), "1.5");
        SHOWS(run("all", list(true, false)), "False");
        SHOWS(run("any", list(true, false)), "True");
        SHOWS(run("slice", list(0, 1, 2, 3, 4), 1, 10, 2), "[1, 3]");
        SHOWS(run("mul", list(1, 2), 2), "[1, 2, 1, 2]");
        SHOWS(run("add", list(1), list(2)), "[1, 2]");
        SHOWS(run("__contains__", list("a", "b"), "b"), "True");
        SHOWS(run("sorted", list("b", "a")), "[a, b]");
        const ScriptValue copy = run("copy", l);
        (void)run("clear", l);
        SHOWS(l, "[]");
        SHOWS(copy, "[2, 9]");
        QVERIFY(raised("remove", copy, 5).contains("not in list"));
        QVERIFY(raised("__getitem__", copy, 5).contains("out of range"));
        QVERIFY(raised("sorted", list(1, "a")).contains("no order"));
    }

    void dictMethods() {
        const ScriptValue d = run("dict", list(tuple("a", 1), tuple("b", 2)));
        (void)run("_set_item", d, "c", 3);
        SHOWS(d, "{a: 1, b: 2, c: 3}");
        SHOWS(run("keys", d), "[a, b, c]");
        SHOWS(run("values", d), "[1, 2, 3]");
        SHOWS(run("items", d), "[(a, 1), (b, 2), (c, 3)]");
        SHOWS(run("get", d, "a"), "1");
        SHOWS(run("get", d, "z"), "None");
        SHOWS(run("get", d, "z", 5), "5");
        SHOWS(run("setdefault", d, "a", 9), "1");
        SHOWS(run("setdefault", d, "e", 9), "9");
        SHOWS(run("pop", d, "b"), "2");
        SHOWS(run("pop", d, "b", 0), "0");
        SHOWS(run("popitem", d), "(e, 9)");
        (void)run("update", d, run("dict", list(tuple("a", 7))));
        const ScriptValue copy = run("copy", d);
        (void)run("Delete", d, "c");
        SHOWS(d, "{a: 7}");
        SHOWS(copy, "{a: 7, c: 3}");
        SHOWS(run("__contains__", d, "a"), "True");
        SHOWS(run("len", copy), "2");
        QVERIFY(!raised("__getitem__", d, "nothing").isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestBuiltins)

}  // namespace tst_builtins

#include "tst_builtins.moc"
