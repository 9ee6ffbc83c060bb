// In-place writes become values: rules c3 to c6 and acceptance cases 11 to 23 and 28 of the CustomTracer reference.
// Expected values are what the same program gives in PyTorch, worked out by hand.

#include <QtTest>

#include "core/passes/inplace.h"
#include "core/passes/pass.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_remove_inplace {

using namespace sonde;
using namespace sonde::test;
using passes::removeInplace;
using passes::removeUnnecessarySlices;

namespace {

/// clone; three slices that take everything; copy_ into the last; then a use of clone (custom-trace.md, "The copy
/// pattern").
struct HardPattern {
    Maker m;
    NodeId base, filled, slice11, slice13;

    explicit HardPattern(const std::string& baseOp = "aten::clone") {
        const NodeId x = m.floats("x", {2, 2, 2});
        filled = m.floats("masked_fill", {2, 2, 2});
        base = m.call("clone", baseOp, x);
        slice11 = m.call("slice_11", "aten::slice.Tensor", base, 0, 0, kMax);
        const NodeId slice12 = m.call("slice_12", "aten::slice.Tensor", slice11, 1, 0, kMax);
        slice13 = m.call("slice_13", "aten::slice.Tensor", slice12, 2, 0, kMax);
        m.call("copy_", "aten::copy_", slice13, filled);
    }
    void returnSum() { m.result(m.call("add", "aten::add.Scalar", base, 1)); }
};

std::vector<double> repeated(double value, std::size_t count) { return std::vector<double>(count, value); }

Value zeros222() { return tensorOf({2, 2, 2}, std::vector<float>(8, 0)); }
Value sevens222() { return tensorOf({2, 2, 2}, std::vector<float>(8, 7)); }

std::int64_t countOf(InternalGraph& graph) {
    const auto count = removeInplace(graph);
    return count ? *count : -1000;
}

}  // namespace

class TestRemoveInplace : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void case11_slicesThatTakeEverything_data() {
        QTest::addColumn<QVariantList>("arguments");
        QTest::addColumn<bool>("goes");
        const QVariant max = QVariant::fromValue(qlonglong(kMax));
        const QVariant open;
        QTest::newRow("0,0,MAX") << QVariantList{0, 0, max} << true;
        QTest::newRow("1,None,None") << QVariantList{1, open, open} << true;
        QTest::newRow("0,None,MAX") << QVariantList{0, open, max} << true;
        QTest::newRow("0,0,10") << QVariantList{0, 0, 10} << false;
        QTest::newRow("0,1,MAX") << QVariantList{0, 1, max} << false;
        QTest::newRow("0,0,MAX,1") << QVariantList{0, 0, max, 1} << false;
        QTest::newRow("0") << QVariantList{0} << false;
    }

    void case11_slicesThatTakeEverything() {
        QFETCH(QVariantList, arguments);
        QFETCH(bool, goes);
        Maker m;
        const NodeId x = m.floats("x", {3, 3});
        std::vector<Argument> all{arg(x)};
        for (const QVariant& each : arguments)
            all.push_back(each.isValid() ? arg(std::int64_t(each.toLongLong())) : none());
        const NodeId slice = m.make(ExprKind::CallFunction, "slice_1", "aten::slice.Tensor", all);
        m.result(m.call("relu", "aten::relu", slice));
        const std::vector<Value> input{tensorOf({3, 3}, {-1, 2, 3, 4, 5, 6, 7, 8, 9})};
        const std::vector<double> before = numbers(run(m.graph, input).at(0));
        QCOMPARE(removeUnnecessarySlices(m.graph), std::size_t(goes ? 1 : 0));
        QVERIFY(m.graph.validate());
        QCOMPARE(m.graph.findNode("slice_1").valid(), !goes);
        QCOMPARE(numbers(run(m.graph, input).at(0)), before);
        QCOMPARE(before.front(), arguments.value(1) == 1 ? 4.0 : 0.0);
    }

    void case11_anUnusedSliceGoesToo() {
        Maker m;
        const NodeId x = m.floats("x", {3});
        m.call("slice_1", "aten::slice.Tensor", x, 0, 0, kMax);
        m.result(m.call("relu", "aten::relu", x));
        QCOMPARE(removeUnnecessarySlices(m.graph), std::size_t(1));
        QCOMPARE(QString::fromStdString(text(m.graph)), QString("relu = relu(x)\nreturn relu\n"));
    }

    void case12_copiesOverAWholeTensor() {
        for (const bool sameShape : {true, false}) {
            Maker m;
            const NodeId a = m.floats("a", {2, 2});
            const NodeId b = m.floats("b", sameShape ? tensor::Shape{2, 2} : tensor::Shape{2, 1});
            const NodeId copy = m.call("copy_", "aten::copy_", a, b);
            m.result(m.call("relu", "aten::relu", copy));
            QCOMPARE(removeUnnecessarySlices(m.graph), std::size_t(sameShape ? 1 : 0));
            QCOMPARE(m.graph.findNode("copy_").valid(), !sameShape);
        }
        Maker unknown;
        const NodeId a = unknown.input("a");
        const NodeId b = unknown.input("b");
        unknown.result(unknown.call("copy_", "aten::copy_", a, b));
        QCOMPARE(removeUnnecessarySlices(unknown.graph), std::size_t(0));
        // The copy is into a part of what is read later: it must stay.
        Maker part;
        const NodeId x = part.floats("x", {2, 2});
        const NodeId v = part.floats("v", {2, 2});
        const NodeId clone = part.call("clone", "aten::clone", x);
        const NodeId slice = part.call("slice", "aten::slice.Tensor", clone, 0, 0, 2, 1);
        part.graph.setType(slice, tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{2, 2}));
        const NodeId copy = part.call("copy_", "aten::copy_", slice, v);
        part.result(tuple({arg(copy), arg(clone)}));
        QCOMPARE(removeUnnecessarySlices(part.graph), std::size_t(0));
    }

    void case13_erasingAChain() {
        Maker m;
        const NodeId x = m.floats("x", {4});
        const NodeId kept = m.call("neg", "aten::neg", x);
        const NodeId slice =
            m.call("slice", "aten::slice.Tensor", m.call("slice_0", "aten::slice.Tensor", x, 0, 0, 2), 0, 0, 1);
        const NodeId relu = m.call("relu", "aten::relu", slice);
        const NodeId shared = m.call("relu_1", "aten::relu", kept);
        const NodeId two =
            m.call("add", "aten::add.Tensor", m.call("exp", "aten::exp", kept), m.call("abs", "aten::abs", kept));
        m.result(kept);
        QCOMPARE(passes::graphEraseNode(m.graph, relu).value(), std::size_t(3));
        QVERIFY(!m.graph.findNode("slice_0").valid());
        QVERIFY(m.graph.findNode("x").valid());  // an input is never erased
        QCOMPARE(passes::graphEraseNode(m.graph, shared).value(), std::size_t(1));
        QVERIFY(m.graph.findNode("neg").valid());
        QCOMPARE(passes::graphEraseNode(m.graph, two).value(), std::size_t(1));  // two tensors: only itself
        QVERIFY(m.graph.findNode("exp").valid());
        const auto used = passes::graphEraseNode(m.graph, kept);
        QVERIFY(!used);
        QVERIFY(used.error().what.find("users") != std::string::npos);
        QVERIFY(m.graph.validate());
        // An input that only the erased operation read stays as well.
        Maker alone;
        const NodeId in = alone.floats("in", {1});
        const NodeId other = alone.floats("other", {1});
        const NodeId only = alone.call("relu", "aten::relu", in);
        alone.result(other);
        QVERIFY(passes::graphEraseNode(alone.graph, only));
        QCOMPARE(alone.graph.inputs().size(), std::size_t(2));
        QVERIFY(alone.graph.validate());
    }

    void case14_hardPatternWithSlicesRemovedFirst() {
        HardPattern p;
        p.returnSum();
        QCOMPARE(removeUnnecessarySlices(p.m.graph), std::size_t(3));
        QCOMPARE(countOf(p.m.graph), std::int64_t(1));
        QCOMPARE(
            QString::fromStdString(text(p.m.graph)),
            QString(
                "clone = clone(x)\nexpand_as = expand_as(masked_fill, clone)\nadd = add.Scalar(expand_as, 1)\nreturn add\n"));
        QVERIFY(p.m.graph.validate());
        QCOMPARE(numbers(run(p.m.graph, {zeros222(), sevens222()}).at(0)), repeated(8, 8));
    }

    void case14_hardPatternAlone() {
        HardPattern p;
        p.m.result(p.base);
        QCOMPARE(countOf(p.m.graph), std::int64_t(1));
        QCOMPARE(
            QString::fromStdString(text(p.m.graph)),
            QString("clone = clone(x)\nsetitem = setitem(clone, (0:MAX,0:MAX,0:MAX), masked_fill)\nreturn setitem\n"));
        QVERIFY(p.m.graph.validate());
        QCOMPARE(numbers(run(p.m.graph, {zeros222(), sevens222()}).at(0)), repeated(7, 8));
        HardPattern withUse;
        withUse.returnSum();
        QCOMPARE(countOf(withUse.m.graph), std::int64_t(1));
        QCOMPARE(numbers(run(withUse.m.graph, {zeros222(), sevens222()}).at(0)), repeated(8, 8));
    }

    void case14_hardPatternOnSomethingElse() {
        HardPattern p("aten::relu");
        p.returnSum();
        const std::string before = text(p.m.graph);
        const auto failed = removeInplace(p.m.graph);
        QVERIFY(!failed);
        QVERIFY2(failed.error().what.find("Unexpected predecessor") != std::string::npos,
                 failed.error().text().c_str());
        QVERIFY2(failed.error().where.find("copy_") != std::string::npos, failed.error().where.c_str());
        QCOMPARE(removeInplace(p.m.graph, {.fail = false}).value(), std::int64_t(-1));
        const auto quoted = removeInplace(p.m.graph, {.program = "def forward(self, x): ..."});
        QVERIFY(quoted.error().text().ends_with("the graph was made from:\ndef forward(self, x): ..."));
        QVERIFY(failed.error().text().find("the graph was made from") == std::string::npos);
        QCOMPARE(text(p.m.graph), before);
    }

    void case15_twoChainsAtLowLevel() {
        Maker m;
        const NodeId x = m.floats("x", {5, 5, 3});
        const NodeId s = m.floats("s", {1});
        const NodeId clone = m.call("clone", "aten::clone", x);
        const auto inner = [&](const std::string& suffix) {
            const NodeId rows = m.call("slice_r" + suffix, "aten::slice.Tensor", clone, 0, 2, -2);
            return m.call("slice_c" + suffix, "aten::slice.Tensor", rows, 1, 2, -2);
        };
        const NodeId part = m.call("slice_k", "aten::slice.Tensor", inner("1"), 2, 0, -1);
        const NodeId expand = m.call("expand", "aten::expand_as", s, part);
        m.call("copy_", "aten::copy_", part, expand);
        const NodeId last = m.call("select", "aten::select.int", inner("2"), 2, -1);
        const NodeId zero = m.constant("zero", Tensor::scalar<float>(0));
        const NodeId lift = m.call("lift", "aten::lift_fresh_copy", zero);
        m.call("fill_", "aten::fill_.Tensor", last, lift);
        m.result(clone);
        QCOMPARE(countOf(m.graph), std::int64_t(2));
        const std::string lines = text(m.graph);
        QVERIFY2(lines.find("setitem = setitem(clone, (2:-2,2:-2,0:-1), expand)\n") != std::string::npos,
                 lines.c_str());
        QVERIFY2(lines.find("setitem_1 = setitem(setitem, (2:-2,2:-2,-1), lift)\n") != std::string::npos,
                 lines.c_str());
        QVERIFY2(lines.ends_with("return setitem_1\n"), lines.c_str());
        QVERIFY(m.graph.validate());
        std::vector<double> expected = numbers(counting({5, 5, 3}));
        // The only row and column from 2 to -2 is 2: elements (2,2,0), (2,2,1) are 9, (2,2,2) is 0.
        expected[36] = expected[37] = 9;
        expected[38] = 0;
        QCOMPARE(numbers(run(m.graph, {counting({5, 5, 3}), tensorOf({1}, {9})}).at(0)), expected);
    }

    void case16_writesOnOneAxisOnly() {
        for (const bool withFullSlice : {false, true}) {
            Maker m;
            const NodeId x = m.floats("x", {2, 4});
            const NodeId v = m.floats("v", {2, 2});
            const NodeId clone = m.call("clone", "aten::clone", x);
            const NodeId rows = withFullSlice ? m.call("rows", "aten::slice.Tensor", clone, 0, 0, kMax) : clone;
            const NodeId part = m.call("part", "aten::slice.Tensor", rows, 1, 2, 4);
            m.call("copy_", "aten::copy_", part, v);
            m.result(m.call("add", "aten::add.Scalar", clone, 1));
            if (withFullSlice) QCOMPARE(removeUnnecessarySlices(m.graph), std::size_t(1));
            QCOMPARE(countOf(m.graph), std::int64_t(1));
            const std::string lines = text(m.graph);
            QVERIFY2(lines.find("setitem = setitem(clone, (:,2:4), v)\n") != std::string::npos, lines.c_str());
            QCOMPARE(numbers(run(m.graph, {counting({2, 4}), tensorOf({2, 2}, {10, 11, 12, 13})}).at(0)),
                     (std::vector<double>{1, 2, 11, 12, 5, 6, 13, 14}));
        }
    }

    void case17_zerosAsRoot() {
        Maker m;
        const NodeId v = m.floats("v", {6});
        const NodeId z = m.call("zeros", "aten::zeros", list({arg(5), arg(6)}));
        const NodeId part = m.call("part", "aten::slice.Tensor", z, 0, 1, 3);
        m.call("copy_", "aten::copy_", part, v);
        m.result(z);
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        const std::vector<double> got = numbers(run(m.graph, {tensorOf({6}, {1, 2, 3, 4, 5, 6})}).at(0));
        QCOMPARE(got.size(), std::size_t(30));
        for (std::size_t i = 0; i < 30; ++i) QCOMPARE(got[i], i / 6 == 1 || i / 6 == 2 ? double(i % 6 + 1) : 0.0);
    }

    void case18_anAxisThatIsCutTwiceIsWrittenRightly() {
        Maker m;
        const NodeId x = m.floats("x", {6});
        const NodeId v = m.floats("v", {2});
        const NodeId clone = m.call("clone", "aten::clone", x);
        const NodeId once = m.call("once", "aten::slice.Tensor", clone, 0, 1, 5);
        const NodeId twice = m.call("twice", "aten::slice.Tensor", once, 0, 1, 3);
        m.call("copy_", "aten::copy_", twice, v);
        m.result(clone);
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        QCOMPARE(numbers(run(m.graph, {counting({6}), tensorOf({2}, {70, 80})}).at(0)),
                 (std::vector<double>{0, 1, 70, 80, 4, 5}));
    }

    void case18_userLevelWritesBecomeValues_data() {
        QTest::addColumn<QString>("op");
        QTest::addColumn<QVector<double>>("expected");
        QTest::newRow("relu_") << "aten::relu_" << QVector<double>{0, 2, 0, 4};
        QTest::newRow("exp_") << "aten::exp_"
                              << QVector<double>{std::exp(-1.0), std::exp(2.0), std::exp(-3.0), std::exp(4.0)};
        QTest::newRow("sigmoid_") << "aten::sigmoid_"
                                  << QVector<double>{1 / (1 + std::exp(1.0)), 1 / (1 + std::exp(-2.0)),
                                                     1 / (1 + std::exp(3.0)), 1 / (1 + std::exp(-4.0))};
    }

    void case18_userLevelWritesBecomeValues() {
        QFETCH(QString, op);
        QFETCH(QVector<double>, expected);
        Maker m;
        const NodeId x = m.floats("x", {4});
        const NodeId clone = m.method("clone", "aten::clone", x);
        m.method("write_", op.toStdString(), clone);
        m.result(m.call("mul", "prim::mul", clone, 2));
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        const auto got = numbers(run(m.graph, {tensorOf({4}, {-1, 2, -3, 4})}).at(0));
        for (int i = 0; i < 4; ++i) QVERIFY(std::abs(got[static_cast<std::size_t>(i)] - 2 * expected[i]) < 1e-4);
    }

    void case18_scalarOverloadsAreNeverDropped_data() {
        QTest::addColumn<QString>("op");
        QTest::newRow("masked_fill_") << "aten::masked_fill_.Scalar";
        QTest::newRow("add_") << "aten::add_.Scalar";
        QTest::newRow("fill_") << "aten::fill_.Scalar";
    }

    void case18_scalarOverloadsAreNeverDropped() {
        QFETCH(QString, op);
        Maker m;
        const NodeId x = m.floats("x", {3});
        const NodeId mask = m.input("mask", tensor::TypeInfo::tensor(tensor::DType::Bool, tensor::Shape{3}));
        const NodeId clone = m.call("clone", "aten::clone", x);
        if (op.contains("masked")) m.call("write_", op.toStdString(), clone, mask, 5);
        else m.call("write_", op.toStdString(), clone, 5);
        m.result(clone);
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        const std::string lines = text(m.graph);
        QVERIFY2(lines.ends_with("return write_\n"), lines.c_str());
    }

    void case19_deadCode() {
        Maker m;
        const NodeId x = m.floats("x", {3});
        m.call("relu", "aten::relu", x);
        m.call("add", "aten::add.Tensor", x, x);
        m.result(m.call("neg", "aten::neg", x));
        QCOMPARE(countOf(m.graph), std::int64_t(2));
        QCOMPARE(QString::fromStdString(text(m.graph)), QString("neg = neg(x)\nreturn neg\n"));
        Maker user;
        const NodeId y = user.floats("y", {3});
        user.call("mul", "prim::mul", y, 2);
        user.result(user.call("neg", "aten::neg", y));
        QCOMPARE(countOf(user.graph), std::int64_t(0));
        QVERIFY(!user.graph.findNode("mul").valid());
    }

    void case20_readsOfOneAttributeAreMerged() {
        Maker m;
        const NodeId x = m.floats("x", {2});
        const NodeId c = m.constant("c", Tensor::of<float>({2}, {1, 2}), ExprKind::GetAttr);
        m.method("add_", "aten::add_.Tensor", c, x);
        const std::string second = "c_1";
        Expr read;
        read.kind = ExprKind::GetAttr;
        read.target = "c";
        const NodeId again = m.graph.expr(m.graph.addExpr(std::move(read), std::span(&second, 1))).outputs.front();
        m.graph.setConstant(again, Value(Tensor::of<float>({2}, {1, 2})));
        m.result(m.call("mul", "prim::mul", again, 10));
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        QVERIFY(!m.graph.findNode("c_1").valid());
        QCOMPARE(numbers(run(m.graph, {tensorOf({2}, {5, 6})}).at(0)), (std::vector<double>{60, 80}));
    }

    void case21_nothingToDo() {
        Maker m;
        const NodeId x = m.floats("x", {3});
        m.result(m.call("relu", "aten::relu", x));
        const std::string before = text(m.graph);
        passes::Notes notes;
        QCOMPARE(removeInplace(m.graph, {}, &notes).value(), std::int64_t(0));
        QCOMPARE(text(m.graph), before);
        QVERIFY(notes.byNode.empty());
    }

    void case22_inPlaceThroughAView() {
        Maker m;
        const NodeId x = m.floats("x", {2, 2});
        const NodeId y = m.method("view", "aten::view", x, list({arg(-1)}));
        m.method("add_", "aten::add_.Scalar", y, 1);
        m.result(m.call("mul", "prim::mul", x, 2));
        const std::string before = text(m.graph);
        const auto failed = removeInplace(m.graph);
        QVERIFY(!failed);
        QVERIFY2(failed.error().what.find("in-place through view not supported") != std::string::npos,
                 failed.error().text().c_str());
        QVERIFY2(failed.error().where.find("'add_'") != std::string::npos, failed.error().where.c_str());
        QCOMPARE(text(m.graph), before);
        // Nobody reads x afterwards: the view alone is what was written.
        Maker fine;
        const NodeId in = fine.floats("x", {2, 2});
        const NodeId flat = fine.method("view", "aten::view", in, list({arg(-1)}));
        fine.method("add_", "aten::add_.Scalar", flat, 1);
        fine.result(flat);
        QCOMPARE(countOf(fine.graph), std::int64_t(1));
        QCOMPARE(numbers(run(fine.graph, {counting({2, 2})}).at(0)), (std::vector<double>{1, 2, 3, 4}));
    }

    void case23_onTheInputItself() {
        Maker m;
        const NodeId x = m.floats("x", {2});
        m.method("add_", "aten::add_.Scalar", x, 1);
        m.result(m.call("mul", "prim::mul", x, 2));
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        QCOMPARE(QString::fromStdString(text(m.graph)),
                 QString("add_ = add_.Scalar(x, 1)\nmul = mul(add_, 2)\nreturn mul\n"));
        QCOMPARE(numbers(run(m.graph, {tensorOf({2}, {1, 2})}).at(0)), (std::vector<double>{4, 6}));
    }

    void w2_writesOneAfterTheOther() {
        Maker m;
        const NodeId x = m.floats("x", {2});
        const NodeId c = m.method("clone", "aten::clone", x);
        m.method("add_", "aten::add_.Scalar", c, 2);
        m.method("add__1", "aten::add_.Scalar", c, 5);
        m.result(m.call("add", "prim::add", c, 3));
        QCOMPARE(countOf(m.graph), std::int64_t(2));
        QCOMPARE(
            QString::fromStdString(text(m.graph)),
            QString(
                "clone = clone(x)\nadd_ = add_.Scalar(clone, 2)\nadd__1 = add_.Scalar(add_, 5)\nadd = add(add__1, 3)\nreturn add\n"));
        QCOMPARE(numbers(run(m.graph, {tensorOf({2}, {1, 2})}).at(0)), (std::vector<double>{11, 12}));
    }

    void w3_w4_setitem() {
        Maker m;
        const NodeId x = m.floats("x", {1, 4});
        const NodeId c = m.method("clone", "aten::clone", x);
        const NodeId part = m.call("getitem", "prim::getitem", c, tuple({all(), cut(none(), arg(2))}));
        const NodeId y = m.call("mul", "prim::mul", part, 2);
        m.call("setitem", "prim::setitem", c, tuple({all(), cut(none(), arg(2))}), y);
        m.result(m.call("add", "prim::add", c, 3));
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        QCOMPARE(
            QString::fromStdString(text(m.graph)),
            QString(
                "clone = clone(x)\ngetitem = getitem(clone, (:,:2))\nmul = mul(getitem, 2)\nsetitem = setitem(clone, (:,:2), mul)\n"
                "add = add(setitem, 3)\nreturn add\n"));
        QCOMPARE(numbers(run(m.graph, {tensorOf({1, 4}, {1, 2, 3, 4})}).at(0)), (std::vector<double>{5, 7, 6, 7}));
    }

    void w7_functionsOfARegion() {
        Maker m;
        const NodeId x = m.floats("x", {5, 5, 2});
        const NodeId k = m.method("clone", "aten::clone", x);
        const Argument index = tuple({cut(arg(2), arg(-2)), cut(arg(2), arg(-2)), cut(none(), arg(-1))});
        const NodeId part = m.call("getitem", "prim::getitem", k, index);
        m.method("exp_", "aten::exp_", part);
        m.result(k);
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        QCOMPARE(
            QString::fromStdString(text(m.graph)),
            QString(
                "clone = clone(x)\nsetitem_with_transformation = setitem_with_transformation(clone, (2:-2,2:-2,:-1), (('exp',()),))\n"
                "return setitem_with_transformation\n")
                .replace("()),))", "())))"));
        const auto got = numbers(run(m.graph, {tensorOf({5, 5, 2}, std::vector<float>(50, 1))}).at(0));
        for (std::size_t i = 0; i < 50; ++i) QVERIFY(std::abs(got[i] - (i == 24 ? std::exp(1.0) : 1.0)) < 1e-5);
    }

    void anIndexOfOneNumberIsATuple() {
        Maker m;  // c = x.clone(); c[0].mul_(3); return c
        const NodeId x = m.floats("x", {2, 2});
        const NodeId c = m.method("clone", "aten::clone", x);
        const NodeId row = m.call("getitem", "prim::getitem", c, 0);
        m.method("mul_", "aten::mul_.Scalar", row, 3);
        m.result(c);
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        QCOMPARE(numbers(run(m.graph, {tensorOf({2, 2}, {1, 2, 3, 4})}).at(0)), (std::vector<double>{3, 6, 3, 4}));
    }

    void viewsThatAreReadLaterAreTakenAgain() {
        Maker m;  // c = x.clone(); v = c[:, 0]; c.add_(10); return v, c
        const NodeId x = m.floats("x", {2, 2});
        const NodeId c = m.call("clone", "aten::clone", x);
        const NodeId v = m.call("column", "aten::select.int", c, 1, 0);
        m.call("add_", "aten::add_.Scalar", c, 10);
        m.result(tuple({arg(v), arg(c)}));
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        const auto got = run(m.graph, {tensorOf({2, 2}, {1, 2, 3, 4})});
        QCOMPARE(numbers(got.at(0)), (std::vector<double>{11, 13}));
        QCOMPARE(numbers(got.at(1)), (std::vector<double>{11, 12, 13, 14}));
    }

    void aWriteToTheResultOfAWriteReachesTheRoot() {
        Maker m;  // c = x.clone(); c[1].mul_(3).add_(1); return c
        const NodeId x = m.floats("x", {2, 2});
        const NodeId c = m.method("clone", "aten::clone", x);
        const NodeId row = m.call("getitem", "prim::getitem", c, 1);
        const NodeId tripled = m.method("mul_", "aten::mul_.Scalar", row, 3);
        m.method("add_", "aten::add_.Scalar", tripled, 1);
        m.result(c);
        QVERIFY(countOf(m.graph) > 0);
        QVERIFY(m.graph.validate());
        QCOMPARE(numbers(run(m.graph, {tensorOf({2, 2}, {1, 2, 3, 4})}).at(0)), (std::vector<double>{1, 2, 10, 13}));
    }

    void selectsShiftTheAxesBehindThem() {
        Maker m;  // c = x.clone(); c.select(0, 1).slice(0, 0, 1).copy_(v): axis 0 of the selection is axis 1 of c
        const NodeId x = m.floats("x", {2, 3});
        const NodeId v = m.floats("v", {1});
        const NodeId c = m.call("clone", "aten::clone", x);
        const NodeId row = m.call("select", "aten::select.int", c, 0, 1);
        const NodeId first = m.call("slice", "aten::slice.Tensor", row, 0, 0, 1);
        m.call("copy_", "aten::copy_", first, v);
        m.result(c);
        QCOMPARE(countOf(m.graph), std::int64_t(1));
        const std::string lines = text(m.graph);
        QVERIFY2(lines.find("(1,0:1)") != std::string::npos, lines.c_str());
        QCOMPARE(numbers(run(m.graph, {counting({2, 3}), tensorOf({1}, {50})}).at(0)),
                 (std::vector<double>{0, 1, 2, 50, 4, 5}));
    }

    void case28_asAPassWithItsReport() {
        HardPattern p;
        p.returnSum();
        const std::vector<std::string> ids{"remove-unnecessary-slices", "remove-inplace"};
        const auto result = passes::runPasses(p.m.graph, ids);
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QVERIFY(result->graph->validate());
        QCOMPARE(result->reports.size(), std::size_t(2));
        const passes::PassReport& slices = result->reports[0];
        QCOMPARE(slices.went.size(), std::size_t(3));
        QCOMPARE(slices.went[0].name, std::string("slice_11"));
        QCOMPARE(slices.went[2].replacedByName, std::string("clone"));
        QCOMPARE(slices.went[0].why, std::string("the slice takes the whole tensor"));
        const passes::PassReport& inplace = result->reports[1];
        QCOMPARE(inplace.went.size(), std::size_t(1));
        QCOMPARE(inplace.went[0].name, std::string("copy_"));
        QCOMPARE(inplace.went[0].replacedByName, std::string("expand_as"));
        QCOMPARE(inplace.came.size(), std::size_t(1));
        QCOMPARE(inplace.came[0].name, std::string("expand_as"));
        QVERIFY(!inplace.came[0].origins.empty());
        QCOMPARE(inplace.changed.size(), std::size_t(1));
        QCOMPARE(inplace.changed[0].name, std::string("add"));
        // The graph given stays as it was.
        QVERIFY(p.m.graph.findNode("copy_").valid());
    }

    void changesThatNobodyCountedAreTold() {
        passes::PassReport report;
        report.pass = "remove-inplace";
        QCOMPARE(report.changes(), std::size_t(0));
        QCOMPARE(report.summary(), std::string("remove-inplace: applied 0 times; 0 nodes removed, 0 added, 0 changed"));
        report.changed.resize(2);
        report.changed[1].inside = true;
        QCOMPARE(report.changes(), std::size_t(1));
        QCOMPARE(report.summary(), std::string("remove-inplace: 0 nodes removed, 0 added, 1 changed"));
        report.count = 3;
        QCOMPARE(report.changes(), std::size_t(3));
        QCOMPARE(report.summary(), std::string("remove-inplace: applied 3 times; 0 nodes removed, 0 added, 1 changed"));
    }
};

QTEST_APPLESS_MAIN(TestRemoveInplace)

}  // namespace tst_remove_inplace

#include "tst_remove_inplace.moc"
