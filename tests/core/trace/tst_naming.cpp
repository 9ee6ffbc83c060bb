#include <QtTest>

#include "core/trace/naming.h"

namespace tst_naming {

using sonde::trace::FxNames;
using sonde::trace::nameCandidate;
using sonde::trace::TracedNames;

class TestNaming : public QObject {
    Q_OBJECT

  private slots:
    /// A sequence that torch.fx was given, in one table (symbolic-trace.md, "Names").
    void fxNamesFollowTheSequence() {
        // clang-format off
        const std::pair<const char*, const char*> sequence[] = {
            {"x", "x"},         {"x", "x_1"},         {"x", "x_2"},   {"x_1", "x_3"},      {"x_1", "x_4"},       {"layer1.0", "layer1_0"},
            {"layer1.0", "layer1_1"}, {"a_01", "a_1"}, {"a_1", "a_2"}, {"1abc", "_1abc"},   {"input", "input_1"}, {"max", "max_1"},
            {"abs", "abs_1"},   {"inf", "inf_1"},     {"x_0", "x_0"}, {"x_0", "x_5"},      {"add_", "add_"},     {"add_", "add__1"},
            {"a-b.c", "a_b_c"}};
        // clang-format on
        FxNames names;
        for (const auto& [candidate, expected] : sequence) QCOMPARE(names.unique(candidate), std::string(expected));
    }

    void emptyNameIsUnnamed() { QCOMPARE(FxNames().unique(""), std::string("_unnamed")); }
    void leadingZerosGo() { QCOMPARE(FxNames().unique("x_007"), std::string("x_7")); }

    void classNamesBecomeSnakeCase() {
        QCOMPARE(nameCandidate("PascalCase"), std::string("pascal_case"));
        QCOMPARE(nameCandidate("ReLU"), std::string("re_lu"));
        QCOMPARE(nameCandidate("ConvBN2d"), std::string("conv_bn2d"));
        QCOMPARE(nameCandidate("__add__"), std::string("add"));
    }

    /// A hundred thousand equal names must not take the square of that.
    void manyEqualNamesAreQuick() {
        FxNames names;
        for (int i = 0; i < 100000; ++i) names.unique(i % 2 ? "x" : "x_5");
        QCOMPARE(names.unique("y"), std::string("y"));
    }

    /// traced-module.md, "Names".
    void tracedNamesAreFreed() {
        TracedNames names;
        QCOMPARE(names.unique("add_out"), std::string("add_out"));
        QCOMPARE(names.unique("add_out"), std::string("add_out_1"));
        QCOMPARE(names.unique("1 bad-name"), std::string("_1_bad_name"));
        QCOMPARE(names.unique("max"), std::string("max_1"));
        QCOMPARE(names.unique("torch"), std::string("torch"));
        names.free("add_out");
        QCOMPARE(names.unique("add_out"), std::string("add_out"));
    }
};

QTEST_GUILESS_MAIN(TestNaming)

}  // namespace tst_naming

#include "tst_naming.moc"
