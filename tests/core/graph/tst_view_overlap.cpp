// Whether two views of one tensor show the same elements, by the calls that cut them out. Worked by hand.

#include <QtTest>

#include "core/graph/view_overlap.h"

namespace tst_view_overlap {

using namespace sonde;
using graph::Overlap;
using graph::ViewArgument;
using graph::ViewStep;
using operators::ViewForm;
using Kind = ViewArgument::Kind;
using Dims = std::vector<std::int64_t>;

namespace {

ViewArgument number(std::int64_t value) { return {Kind::Int, value, {}}; }
ViewArgument nothing() { return {}; }
ViewArgument cut(ViewArgument start, ViewArgument stop, ViewArgument step = {}) {
    return ViewArgument::container(Kind::Slice, {std::move(start), std::move(stop), std::move(step)});
}
ViewArgument tuple(std::vector<ViewArgument> items) { return ViewArgument::container(Kind::Tuple, std::move(items)); }

ViewStep step(ViewForm form, std::string op, std::vector<ViewArgument> arguments, Dims dims) {
    ViewStep made;
    made.op = std::move(op);
    made.form = form;
    made.arguments = std::move(arguments);
    made.dims = std::move(dims);
    return made;
}
/// x[index] of an x of these dimensions; none: they are not known.
ViewStep at(ViewArgument index, Dims dims = {}) { return step(ViewForm::Index, "getitem", {std::move(index)}, dims); }
ViewStep narrowed(std::int64_t start, std::int64_t length, Dims dims = {}) {
    return step(ViewForm::Narrow, "narrow", {number(0), number(start), number(length)}, std::move(dims));
}
ViewStep viewed(const Dims& shape, Dims dims = {}) {
    std::vector<ViewArgument> sizes;
    for (const std::int64_t size : shape) sizes.push_back(number(size));
    return step(ViewForm::NewShape, "view", {tuple(std::move(sizes))}, std::move(dims));
}

struct Case {
    const char* name;
    std::vector<ViewStep> a, b;
    Overlap expected;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> list{
        {"it and itself", {}, {}, Overlap::Same},
        {"all four of four", {at(cut(number(0), number(4)), {4})}, {}, Overlap::Same},
        {"the first four of some", {at(cut(number(0), number(4)))}, {}, Overlap::Unknown},
        {"the first four of five", {at(cut(number(0), number(4)), {5})}, {}, Overlap::Meet},
        {"all but the first of some", {at(cut(number(1), nothing()))}, {}, Overlap::Meet},
        {"the first two by two operators", {at(cut(number(0), number(2)))}, {narrowed(0, 2)}, Overlap::Same},
        {"the first two and three of two",
         {at(cut(number(0), number(2)), {2})},
         {at(cut(number(0), number(3)), {2})},
         Overlap::Same},
        {"the first two and three of some",
         {at(cut(number(0), number(2)))},
         {at(cut(number(0), number(3)))},
         Overlap::Unknown},
        {"the first two and three of three",
         {at(cut(number(0), number(2)), {3})},
         {at(cut(number(0), number(3)), {3})},
         Overlap::Meet},
        {"every second one of one", {at(cut(nothing(), nothing(), number(2)), {1})}, {}, Overlap::Same},
        {"the last two and three of some",
         {at(cut(number(-2), nothing()))},
         {at(cut(number(-3), nothing()))},
         Overlap::Unknown},
        {"neighbours", {at(cut(number(0), number(3)))}, {at(cut(number(1), number(4)))}, Overlap::Meet},
        {"halves", {at(cut(number(0), number(2)))}, {at(cut(number(2), number(4)))}, Overlap::Apart},
        {"the first row", {at(number(0))}, {}, Overlap::Meet},
        {"with a dimension in front", {at(nothing())}, {}, Overlap::Meet},
        {"the first two rows, all columns",
         {at(tuple({cut(number(0), number(2)), cut(nothing(), nothing())}))},
         {at(cut(number(0), number(2)))},
         Overlap::Same},
        {"the only row and the only column",
         {at(tuple({number(0), cut(nothing(), nothing())}))},
         {at(tuple({cut(nothing(), nothing()), number(0)}))},
         Overlap::Unknown},
        {"a row and a column",
         {at(tuple({number(0), cut(nothing(), nothing())}), {2, 2})},
         {at(tuple({cut(nothing(), nothing()), number(0)}), {2, 2})},
         Overlap::Meet},
        {"a view of its own shape", {viewed({2, 2}, {2, 2})}, {}, Overlap::Same},
        {"a view of its own shape, of part of it",
         {viewed({2, 2}, {2, 2}), at(number(0), {2, 2})},
         {at(number(0), {2, 2})},
         Overlap::Same},
        {"a view of another shape", {viewed({2, 2}, {4})}, {}, Overlap::Unknown},
        {"a view of a shape that is not known", {viewed({2, 2})}, {}, Overlap::Unknown},
        {"nothing to squeeze", {step(ViewForm::Squeeze, "squeeze", {}, {2, 2})}, {}, Overlap::Same},
        {"something to squeeze", {step(ViewForm::Squeeze, "squeeze", {}, {1, 2})}, {}, Overlap::Unknown},
    };
    return list;
}

}  // namespace

class TestViewOverlap : public QObject {
    Q_OBJECT

  private slots:
    void views_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < cases().size(); ++i) QTest::newRow(cases()[i].name) << static_cast<int>(i);
    }
    void views() {
        QFETCH(int, index);
        const Case& each = cases()[static_cast<std::size_t>(index)];
        QCOMPARE(static_cast<int>(graph::overlapOf(each.a, each.b)), static_cast<int>(each.expected));
        QCOMPARE(static_cast<int>(graph::overlapOf(each.b, each.a)), static_cast<int>(each.expected));
    }
};

QTEST_GUILESS_MAIN(TestViewOverlap)

}  // namespace tst_view_overlap

#include "tst_view_overlap.moc"
