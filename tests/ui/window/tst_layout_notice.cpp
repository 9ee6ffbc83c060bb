// What the window says while a layout takes long, and when Graphviz had its time and the layered engine took over. The
// layout helper of this test never answers.

#include <QFile>
#include <QLabel>

#include <algorithm>

#include "tests/support/window_fixture.h"

namespace tst_layout_notice {

using namespace sonde;

class TestLayoutNotice : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        const QString helper = m_settings.filePath(QStringLiteral("helper.sh"));
        QFile script(helper);
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write("#!/bin/sh\nexec sleep 1000\n");
        script.close();
        QVERIFY(script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        // Both are read when the first layout is requested.
        qputenv("SONDE_LAYOUT_WORKER", helper.toUtf8());
        qputenv("XDG_CACHE_HOME", m_settings.path().toUtf8());
        prepare();
    }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
    void whoTookOverIsToldOnce();
    void theNoticeLeavesThePathFree_data();
    void theNoticeLeavesThePathFree();

  private:
    std::ptrdiff_t told(const QString& what) {
        const auto& messages = context().messages().all();
        return std::count_if(messages.begin(), messages.end(),
                             [&](const context::Message& message) { return message.text.contains(what); });
    }
    QLabel* path() {
        for (QLabel* label : canvas()->findChildren<QLabel*>())
            if (label->accessibleName() == QLatin1String("Path of modules")) return label;
        return nullptr;
    }
    /// Where the notice stands if nothing is in its way: in the middle, 12 pixels below the edge.
    QRect place() {
        const QFontMetrics metrics(theme::Theme::instance().uiFont());
        const int width =
            metrics.horizontalAdvance(QStringLiteral("Computing layout… the previous one stays visible")) + 24;
        return {canvas()->width() / 2 - width / 2, 12, width, metrics.height() + 12};
    }
    /// An overlay has its own background at both ends and a line above and below.
    bool isPlateAt(const QRect& plate) {
        const QImage picture = canvas()->grab().toImage();
        const QColor background = theme::color(theme::ColorRole::Raised);
        const int middle = plate.center().y();
        const bool isFilled = picture.pixelColor(plate.left() + 6, middle) == background &&
                              picture.pixelColor(plate.right() - 6, middle) == background;
        return isFilled && picture.pixelColor(plate.left() + 20, plate.top() - 3) != background &&
               picture.pixelColor(plate.left() + 20, plate.bottom() + 4) != background;
    }
};

void TestLayoutNotice::whoTookOverIsToldOnce() {
    open(QStringLiteral("zoo:unet_small"));
    QVERIFY(canvas()->view().scene());
    QVERIFY(!canvas()->view().scene()->items.empty());
    const QString why = QStringLiteral("laid out by the layered engine: Graphviz did not end within");
    QCOMPARE(told(why), 1);
    context().canvases().active().expandToDepth(1);
    settle();
    context().canvases().active().expandToDepth(0);
    settle();
    const auto& messages = context().messages().all();
    for (const context::Message& message : messages) QCOMPARE(told(message.text), 1);
}

void TestLayoutNotice::theNoticeLeavesThePathFree_data() {
    // Each with a model of its own: what an earlier row laid out is there at once.
    QTest::addColumn<QSize>("size");
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("module");
    QTest::addColumn<bool>("isNarrow");
    QTest::newRow("wide") << QSize(1600, 900) << QStringLiteral("zoo:mobilenet_v3_small")
                          << QStringLiteral("features.4.block.2") << false;
    QTest::newRow("narrow") << QSize(760, 700) << QStringLiteral("zoo:densenet121")
                            << QStringLiteral("features.denseblock1.denselayer1.conv1") << true;
}

void TestLayoutNotice::theNoticeLeavesThePathFree() {
    QFETCH(QSize, size);
    QFETCH(QString, model);
    QFETCH(QString, module);
    QFETCH(bool, isNarrow);
    m_window->resize(size);
    open(model);
    context().navigation().select(context().navigation().selectionOf(module));
    settle();
    QVERIFY(path() && path()->isVisible());
    QRect plate = place();
    QCOMPARE(plate.intersects(path()->geometry()), isNarrow);
    if (isNarrow) plate.moveTop(path()->geometry().bottom() + 8);
    QVERIFY(!isPlateAt(plate));
    context().canvases().active().expandToDepth(9);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle() || isPlateAt(plate), 30000);
    QVERIFY(!m_window->isIdle());
    settle();
    QVERIFY(!isPlateAt(plate));
}

QTEST_MAIN(TestLayoutNotice)

}  // namespace tst_layout_notice

#include "tst_layout_notice.moc"
