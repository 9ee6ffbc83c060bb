#pragma once

#include <QMargins>
#include <QRect>

class QWidget;

namespace sonde::window {

/// How far a window's frame (title bar, borders) reaches beyond what it holds. None before the desktop has given it
/// one.
QMargins frameOf(const QWidget& window);

/// `frame` moved, and shrunk where it is larger, so that all of it is in `room`. A window that cannot be smaller than
/// `least`, and so does not fit, keeps its title bar there.
QRect within(QRect frame, const QRect& room, QSize least = {});

/// A window that what is in it makes larger stays on its screen, if it was there.
void keepOnScreen(QWidget& window);

/// Puts a window where its frame fills `frame`, or more if what is in it needs that. Of a window without a frame yet it
/// is taken to be that of `like`; the window is placed again once the desktop has had time to give it one.
void placeFrame(QWidget& window, const QRect& frame, const QWidget& like);

}  // namespace sonde::window
