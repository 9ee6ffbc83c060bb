#include <QApplication>
#include <QScrollBar>
#include <QTest>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/capped_area.h"
#include "ui/widgets/colored_label.h"
#include "ui/widgets/wrapped_label.h"

namespace tst_texts {

using namespace sonde;
using namespace sonde::widgets;

/// Texts that are longer than the room that they have.
class TestTexts : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { theme::Theme::instance().install(*qApp); }

    void aLongTextIsScrolledBeyondItsLimit() {
        QWidget window;
        auto* layout = new QVBoxLayout(&window);
        layout->setContentsMargins(0, 0, 0, 0);
        auto* text = new QLabel(QStringLiteral("short"));
        text->setWordWrap(true);
        auto* area = new CappedArea(text);
        const int line = text->fontMetrics().lineSpacing();
        area->setMaxTextHeight(4 * line);
        layout->addWidget(area);
        layout->addStretch();
        window.resize(300, 400);
        window.show();
        QTRY_COMPARE(area->height(), text->heightForWidth(300));
        QCOMPARE(area->focusPolicy(), Qt::NoFocus);
        text->setText(QStringLiteral("sigmoid(w_z * x_z + r_z * h_z + bw_z) ").repeated(30));
        area->refit();
        QTRY_COMPARE(area->height(), 4 * line);
        QTRY_VERIFY(area->verticalScrollBar()->maximum() > 0);
        // All of it can be read, by keys too, and no line goes below the scroll bar.
        QCOMPARE(area->verticalScrollBar()->maximum() + area->viewport()->height(), text->height());
        QVERIFY(text->height() >= text->heightForWidth(text->width()));
        QVERIFY(text->width() <= area->viewport()->width());
        QCOMPARE(area->focusPolicy(), Qt::StrongFocus);
        area->setFocus();
        QTest::keyClick(area, Qt::Key_Down);
        QVERIFY(area->verticalScrollBar()->value() > 0);
        area->setMaxTextHeight(100 * line);
        QTRY_COMPARE(area->height(), text->heightForWidth(300));
        QCOMPARE(area->verticalScrollBar()->value(), 0);
    }

    void aLongWordIsShortenedInItsMiddle() {
        QWidget window;
        auto* layout = new QVBoxLayout(&window);
        auto* label = new WrappedLabel;
        layout->addWidget(label);
        layout->addStretch();
        window.resize(300, 400);
        window.show();
        const QString name = QStringLiteral("/encoder/") + QString(120, u'n') + QStringLiteral("/Relu_output_0");
        const QString whole = name + QStringLiteral(" differs from other.onnx: same inputs, other output");
        label->setWholeText(whole);
        QCOMPARE(label->wholeText(), whole);
        QTRY_VERIFY(label->text().contains(QChar(0x2026)));
        QVERIFY(label->text().startsWith(QStringLiteral("/encoder/n")));
        QVERIFY(label->text().endsWith(
            QStringLiteral("n/Relu_output_0 differs from other.onnx: same inputs, other output")));
        QCOMPARE(label->toolTip(), whole);
        QCOMPARE(label->accessibleName(), whole);
        QTRY_VERIFY(label->height() >= 2 * label->fontMetrics().lineSpacing());
        QTRY_VERIFY(label->height() >= label->heightForWidth(label->width()));
        window.resize(3000, 400);
        QTRY_COMPARE(label->text(), whole);
        QVERIFY(label->toolTip().isEmpty());
    }

    /// Of the theme that is on, and of the one that is switched to.
    void aColourFollowsTheTheme() {
        theme::Theme& look = theme::Theme::instance();
        look.setMode(theme::Theme::Mode::Light);
        ColoredLabel label(theme::ColorRole::Error);
        label.setText(QStringLiteral("wrong"));
        const auto isOf = [&](theme::ColorRole role) {
            label.ensurePolished();
            return label.palette().color(label.foregroundRole()) == theme::color(role);
        };
        QVERIFY(isOf(theme::ColorRole::Error));
        const QColor light = theme::color(theme::ColorRole::Error);
        look.setMode(theme::Theme::Mode::Dark);
        QVERIFY(theme::color(theme::ColorRole::Error) != light);
        QVERIFY(isOf(theme::ColorRole::Error));
        label.setColorRole(theme::ColorRole::Text);
        QVERIFY(isOf(theme::ColorRole::Text));
        look.setMode(theme::Theme::Mode::Light);
        QVERIFY(isOf(theme::ColorRole::Text));
    }
};

QTEST_MAIN(TestTexts)

}  // namespace tst_texts

#include "tst_texts.moc"
