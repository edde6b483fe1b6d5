"""The Maze scenario: walk to a goal through corridors, of which only the nearest walls are seen."""
