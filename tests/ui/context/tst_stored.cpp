// Settings that a worker writes: read as stored at once, in the file after waiting, in the order of asking.

#include <QSemaphore>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/context/stored.h"

namespace tst_stored {

using namespace sonde::context;

class TestStored : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void cleanup() { waitUntilStored(), QSettings().clear(); }
    void isReadBeforeItIsOnDisk();
    void isOnDiskAfterWaiting();
    void comesInTheOrderOfAsking();
    void anInvalidValueRemovesTheGroup();
    void theFileIsReadForTheRest();

  private:
    QTemporaryDir m_folder;
};

void TestStored::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
}

void TestStored::isReadBeforeItIsOnDisk() {
    QSemaphore reached, go;
    storeLater([&](QSettings&) {
        reached.release();
        go.acquire();
    });
    reached.acquire();  // the worker is held: nothing below can be on the disk
    store(QStringLiteral("a"), 7);
    QCOMPARE(stored(QStringLiteral("a")).toInt(), 7);
    QVERIFY(!QSettings().contains(QStringLiteral("a")));
    store(QStringLiteral("a"), {});
    QCOMPARE(stored(QStringLiteral("a"), 5).toInt(), 5);
    store(QStringLiteral("a"), 8);
    go.release();
    waitUntilStored();
    QCOMPARE(stored(QStringLiteral("a")).toInt(), 8);
}

void TestStored::isOnDiskAfterWaiting() {
    store(QStringLiteral("look/mode"), QStringLiteral("dark"));
    storeLater([](QSettings& settings) {
        settings.setValue(QStringLiteral("rules"), QStringList{QStringLiteral("x"), QStringLiteral("y")});
    });
    waitUntilStored();
    QFile file(QSettings().fileName());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY2(text.contains("[look]\nmode=dark"), text.constData());
    QVERIFY2(text.contains("rules=x, y"), text.constData());
}

void TestStored::comesInTheOrderOfAsking() {
    for (int i = 0; i <= 500; ++i) {
        store(QStringLiteral("last"), i);
        storeLater([i](QSettings& settings) {
            settings.setValue(QStringLiteral("seen"), settings.value(QStringLiteral("last")).toInt() == i);
        });
        QCOMPARE(stored(QStringLiteral("last")).toInt(), i);
    }
    waitUntilStored();
    QCOMPARE(QSettings().value(QStringLiteral("last")).toInt(), 500);
    QVERIFY(QSettings().value(QStringLiteral("seen")).toBool());
}

void TestStored::anInvalidValueRemovesTheGroup() {
    store(QStringLiteral("keys/open"), QStringLiteral("Ctrl+O"));
    store(QStringLiteral("keys/close"), QStringLiteral("Ctrl+W"));
    store(QStringLiteral("keys"), {});
    waitUntilStored();
    QVERIFY(QSettings().allKeys().isEmpty());
}

void TestStored::theFileIsReadForTheRest() {
    QSettings().setValue(QStringLiteral("b"), 3);
    QCOMPARE(stored(QStringLiteral("b"), 1).toInt(), 3);
    QCOMPARE(stored(QStringLiteral("c"), 1).toInt(), 1);
}

QTEST_MAIN(TestStored)

}  // namespace tst_stored

#include "tst_stored.moc"
